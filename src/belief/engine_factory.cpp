// The factory of one copy of the engines. GOBLIN_ENGINE_FACTORY is the name of the function that gives it to the rest
// of the library, another one for each copy.

#include "belief/engine_factory.hpp"

#include "belief/dense/dense_engine.hpp"
#include "belief/likelihood/block_solver.hpp"
#include "belief/local/local_engine.hpp"
#include "belief/sparse/sparse_engine.hpp"

namespace goblin {
namespace {

class Factory final : public EngineFactory {
 public:
  [[nodiscard]] std::unique_ptr<Engine> make(EngineKind kind, const PriorMatrix& prior, std::size_t dimension,
                                             const EngineOptions& options) const override {
    switch (choose_engine(kind, shape_of(prior), dimension)) {
      case EngineKind::dense:
        return std::make_unique<DenseEngine>(prior, dimension);
      case EngineKind::local:
        return std::make_unique<LocalEngine>(prior, dimension, options.local);
      default:
        return std::make_unique<SparseEngine>(prior, dimension, options);
    }
  }

  [[nodiscard]] std::unique_ptr<Engine> join(EngineKind kind, const Engine& first, const Engine& second,
                                             const ComponentEvidence& evidence, std::size_t dimension,
                                             const EngineOptions& options) const override {
    const ComponentShape shape = {.nodes = first.node_count() + second.node_count(),
                                  .edges = first.graph().edge_count() + second.graph().edge_count() + 1,
                                  .pull = [&] {
                                    Pull pull;
                                    pull.add(first.prior());
                                    pull.add(second.prior());
                                    return pull.value();
                                  }};
    const bool has_local = first.kind() == EngineKind::local || second.kind() == EngineKind::local;
    const EngineKind chosen = has_local ? EngineKind::local : choose_engine(kind, shape, dimension);
    if (chosen == EngineKind::local) {
      return std::make_unique<LocalEngine>(first, second, evidence, dimension, options.local);
    }
    if (chosen == EngineKind::dense && first.kind() == EngineKind::dense && second.kind() == EngineKind::dense) {
      return std::make_unique<DenseEngine>(static_cast<const DenseEngine&>(first),
                                           static_cast<const DenseEngine&>(second));
    }
    return std::make_unique<SparseEngine>(first, second, evidence, dimension, options);
  }

  [[nodiscard]] std::unique_ptr<Engine> load(BinaryReader& in, EngineKind kind, const PriorMatrix& prior,
                                             std::size_t dimension, const EngineOptions& options) const override {
    switch (kind) {
      case EngineKind::dense:
        return std::make_unique<DenseEngine>(in, prior, dimension);
      case EngineKind::local:
        return std::make_unique<LocalEngine>(in, prior, dimension, options.local);
      default:
        return std::make_unique<SparseEngine>(in, prior, dimension, options);
    }
  }

  [[nodiscard]] std::size_t bytes(EngineKind kind, std::size_t nodes, std::size_t edges,
                                  std::size_t dimension) const override {
    switch (kind) {
      case EngineKind::dense:
        return DenseEngine::bytes(nodes, edges, dimension);
      case EngineKind::local:
        return LocalEngine::bytes(nodes, edges, dimension);
      default:
        return SparseEngine::bytes(nodes, edges, dimension);
    }
  }

  [[nodiscard]] std::unique_ptr<LikelihoodSolver> likelihood_solver(const Evidence& evidence) const override {
    return std::make_unique<BlockLikelihoodSolver>(evidence);
  }

  [[nodiscard]] std::unique_ptr<ProgressiveMeans> progressive_means(const PriorMatrix& prior,
                                                                    std::size_t dimension) const override {
    return std::make_unique<BlockProgressiveMeans>(prior, dimension);
  }
};

}  // namespace

extern "C" const EngineFactory* GOBLIN_ENGINE_FACTORY();
extern "C" const EngineFactory* GOBLIN_ENGINE_FACTORY() {
  static const Factory factory;
  return &factory;
}

}  // namespace goblin

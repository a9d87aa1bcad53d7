// The factory of one copy of the engines. GOBLIN_ENGINE_FACTORY is the name of the function that gives it to the rest
// of the library, another one for each copy.

#include "belief/engine_factory.hpp"

#include "belief/dense_engine.hpp"
#include "belief/local_engine.hpp"
#include "belief/sparse_engine.hpp"
#include "binary.hpp"

namespace goblin {
namespace {

class CompiledFactory final : public EngineFactory {
 public:
  std::unique_ptr<Engine> make(EngineKind kind, const Graph& component, std::size_t dimension, const Prior& prior,
                               const EngineOptions& options) const override {
    switch (kind) {
      case EngineKind::dense:
        return std::make_unique<DenseEngine>(component, dimension, prior);
      case EngineKind::local:
        return std::make_unique<LocalEngine>(component, dimension, prior, options.local);
      default:
        return std::make_unique<SparseEngine>(component, dimension, prior, options);
    }
  }

  std::unique_ptr<Engine> join(EngineKind kind, const Engine& first, const Engine& second,
                               std::span<const Engine::NodeEvidence> evidence, std::size_t dimension,
                               const Prior& prior, const EngineOptions& options) const override {
    if (kind == EngineKind::local || first.kind() == EngineKind::local || second.kind() == EngineKind::local) {
      return std::make_unique<LocalEngine>(first, second, evidence, dimension, prior, options.local);
    }
    if (kind == EngineKind::dense && first.kind() == EngineKind::dense && second.kind() == EngineKind::dense) {
      return std::make_unique<DenseEngine>(static_cast<const DenseEngine&>(first),
                                           static_cast<const DenseEngine&>(second));
    }
    return std::make_unique<SparseEngine>(first, second, evidence, dimension, prior, options);
  }

  std::unique_ptr<Engine> load(BinaryReader& in, std::size_t dimension, const Prior& prior,
                               const EngineOptions& options) const override {
    switch (static_cast<EngineKind>(in.number<std::uint8_t>())) {
      case EngineKind::dense:
        return std::make_unique<DenseEngine>(in, dimension, prior);
      case EngineKind::sparse:
        return std::make_unique<SparseEngine>(in, dimension, prior, options);
      case EngineKind::local:
        return std::make_unique<LocalEngine>(in, dimension, prior, options.local);
      default:
        in.fail("its content is inconsistent: an engine that does not exist");
    }
  }

  std::size_t bytes(EngineKind kind, std::size_t nodes, std::size_t edges, std::size_t dimension) const override {
    switch (kind) {
      case EngineKind::dense:
        return DenseEngine::bytes(nodes, edges, dimension);
      case EngineKind::local:
        return LocalEngine::bytes(nodes, edges, dimension);
      default:
        return SparseEngine::bytes(nodes, edges, dimension);
    }
  }
};

}  // namespace

extern "C" const EngineFactory* GOBLIN_ENGINE_FACTORY();
extern "C" const EngineFactory* GOBLIN_ENGINE_FACTORY() {
  static const CompiledFactory factory;
  return &factory;
}

}  // namespace goblin

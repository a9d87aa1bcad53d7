#pragma once

#include "belief/engine.hpp"
#include "belief/engine_costs.hpp"
#include "belief/likelihood/likelihood_solver.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace goblin {

/// Makes engines.
///
/// The engines are compiled several times, each time for processors with more instructions (engine_sources in
/// src/CMakeLists.txt). Each copy has one factory, and the rest of the library reaches the copy only through it and
/// through the virtual functions of the engines that it makes. Nothing else of a copy is visible outside.
class EngineFactory {
 public:
  virtual ~EngineFactory() = default;

  /// An engine without evidence.
  [[nodiscard]] virtual std::unique_ptr<Engine> make(EngineKind kind, const PriorMatrix& prior, std::size_t dimension,
                                                     const EngineOptions& options) const = 0;

  /// The engine for two components beside each other: the nodes of the first, then those of the second, and their
  /// evidence. dense only joins dense, and what is joined to local becomes local.
  [[nodiscard]] virtual std::unique_ptr<Engine> join(EngineKind kind, const Engine& first, const Engine& second,
                                                     const ComponentEvidence& evidence, std::size_t dimension,
                                                     const EngineOptions& options) const = 0;

  /// The engine that Engine::save wrote, after its kind.
  [[nodiscard]] virtual std::unique_ptr<Engine> load(BinaryReader& in, EngineKind kind, const PriorMatrix& prior,
                                                     std::size_t dimension, const EngineOptions& options) const = 0;

  /// What an engine of this kind, which is not `automatic`, takes for a component once every node has evidence; local
  /// without that evidence, since its components are too large for everybody to come.
  [[nodiscard]] virtual std::size_t bytes(EngineKind kind, std::size_t nodes, std::size_t edges,
                                          std::size_t dimension) const = 0;

  /// What goes with choosing a prior by the evidence; places of the evidence are nodes.
  [[nodiscard]] virtual std::unique_ptr<LikelihoodSolver> likelihood_solver(const Evidence& evidence) const = 0;
  [[nodiscard]] virtual std::unique_ptr<ProgressiveMeans> progressive_means(const PriorMatrix& prior,
                                                                            std::size_t dimension) const = 0;
};

/// The factory of the best copy that this processor can run.
[[nodiscard]] const EngineFactory& engine_factory();

}  // namespace goblin

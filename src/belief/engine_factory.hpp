#pragma once

#include "goblin/belief/engine.hpp"

#include <cstddef>
#include <memory>
#include <span>

namespace goblin {

/// Makes engines.
///
/// The engines are compiled several times, each time for processors with more instructions (engine_sources in
/// src/CMakeLists.txt). Each copy has one factory, and the rest of the library reaches the copy only through it and
/// through the virtual functions of the engines that it makes. Nothing else of a copy is visible outside.
class EngineFactory {
 public:
  virtual ~EngineFactory() = default;

  /// What make_engine, join_engines, load_engine and engine_bytes do; the kind is not automatic here.
  [[nodiscard]] virtual std::unique_ptr<Engine> make(EngineKind kind, const Graph& component, std::size_t dimension,
                                                     const Prior& prior, const EngineOptions& options) const = 0;
  [[nodiscard]] virtual std::unique_ptr<Engine> join(EngineKind kind, const Engine& first, const Engine& second,
                                                     std::span<const Engine::NodeEvidence> evidence,
                                                     std::size_t dimension, const Prior& prior,
                                                     const EngineOptions& options) const = 0;
  [[nodiscard]] virtual std::unique_ptr<Engine> load(BinaryReader& in, std::size_t dimension, const Prior& prior,
                                                     const EngineOptions& options) const = 0;
  [[nodiscard]] virtual std::size_t bytes(EngineKind kind, std::size_t nodes, std::size_t edges,
                                          std::size_t dimension) const = 0;
};

/// The factory of the copy for this machine: see instruction_set().
[[nodiscard]] const EngineFactory& engine_factory();

}  // namespace goblin

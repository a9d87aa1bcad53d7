#include "goblin/belief/instruction_set.hpp"

#include "belief/engine_factory.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace goblin {

// One for each copy of the engines: see cmake/EngineVariants.cmake.
extern "C" {
#ifdef GOBLIN_ENGINE_VARIANTS
const EngineFactory* goblin_engine_factory_x86_64();
const EngineFactory* goblin_engine_factory_x86_64_v3();
const EngineFactory* goblin_engine_factory_x86_64_v4();
#else
const EngineFactory* goblin_engine_factory_plain();
#endif
}

namespace {

struct Variant {
  std::string_view name;
  const EngineFactory* (*factory)();
};

/// Those that this processor can run, the fastest first.
std::vector<Variant> usable_variants() {
  std::vector<Variant> usable;
#ifdef GOBLIN_ENGINE_VARIANTS
  __builtin_cpu_init();
#ifdef GOBLIN_HAS_X86_64_V4
  if (__builtin_cpu_supports("x86-64-v4")) usable.push_back({"x86-64-v4", goblin_engine_factory_x86_64_v4});
#endif
#ifdef GOBLIN_HAS_X86_64_V3
  if (__builtin_cpu_supports("x86-64-v3")) usable.push_back({"x86-64-v3", goblin_engine_factory_x86_64_v3});
#endif
  usable.push_back({"x86-64", goblin_engine_factory_x86_64});
#else
  usable.push_back({"plain", goblin_engine_factory_plain});
#endif
  return usable;
}

Variant choose_variant() {
  const std::vector<Variant> usable = usable_variants();
  const char* wanted = std::getenv("GOBLIN_INSTRUCTIONS");
  if (wanted == nullptr || *wanted == '\0') return usable.front();
  std::string names;
  for (const Variant& variant : usable) {
    if (variant.name == wanted) return variant;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", variant.name);
  }
  throw std::invalid_argument(fmt::format("GOBLIN_INSTRUCTIONS: '{}' (must be one of: {})", wanted, names));
}

const Variant& variant() {
  static const Variant chosen = choose_variant();
  return chosen;
}

}  // namespace

std::string_view instruction_set() { return variant().name; }

const EngineFactory& engine_factory() { return *variant().factory(); }

}  // namespace goblin

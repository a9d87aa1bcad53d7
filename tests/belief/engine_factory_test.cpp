#include "belief/engine_factory.hpp"

#include "binary.hpp"
#include "goblin/belief/instruction_set.hpp"
#include "goblin/error.hpp"
#include "goblin/graph/generators.hpp"

#include <cstdlib>
#include <stdexcept>

#include <gtest/gtest.h>

namespace goblin {
namespace engine_factory_test {

TEST(InstructionSet, is_the_one_that_was_asked_for) {
  const char* wanted = std::getenv("GOBLIN_INSTRUCTIONS");
  if (wanted == nullptr || *wanted == '\0') GTEST_SKIP() << "nothing was asked for; it is " << instruction_set();
  EXPECT_EQ(instruction_set(), wanted);
}

// The engines are objects of their own, with their own copy of every inline function and type description.
TEST(EngineFactory, exceptions_are_caught_by_type) {
  const PriorMatrix prior(generate::cliques(1, 3), 1.0, 1.0);
  for (const auto kind : {EngineKind::dense, EngineKind::sparse, EngineKind::local}) {
    BinaryReader nothing({}, "file");
    EXPECT_THROW((void)engine_factory().load(nothing, kind, prior, 2, {}), DataError);
  }
  BinaryWriter refusing([](const char*, std::size_t) { throw std::invalid_argument("no"); });
  for (const auto kind : {EngineKind::dense, EngineKind::sparse, EngineKind::local}) {
    const auto engine = engine_factory().make(kind, prior, 2, {});
    EXPECT_THROW(engine->save(refusing), std::invalid_argument);
  }
}

}  // namespace engine_factory_test
}  // namespace goblin

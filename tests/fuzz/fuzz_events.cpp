// Any bytes are events, or a DataError that leaves a bandit which can still decide.

#include "goblin/bandit/bandit.hpp"
#include "goblin/error.hpp"
#include "replay.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
  std::ostringstream out;
  goblin::Names names;
  for (const char* name : {"a", "b", "c"}) names.insert(name);
  auto bandit = goblin::Bandit::gob_lin(goblin::Graph(names, std::vector<goblin::Edge>{{0, 1}}), {.dimension = 2});
  try {
    goblin::app::replay(bandit, in, out, false);
  } catch (const goblin::DataError&) {
  }
  const std::vector<double> contexts{1.0, 0.0, 0.0, 1.0};
  for (const double score : bandit.select("a", {contexts, 2}).scores) {
    if (!std::isfinite(score)) std::abort();
  }
  return 0;
}

// Any bytes are events, or a DataError that leaves a bandit which can still decide.

#include "goblin/bandit/bandit.hpp"
#include "goblin/error.hpp"
#include "replay.hpp"
#include "support/tea_and_soup.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  goblin::Names names;
  for (const char* name : {"a", "b", "c"}) names.insert(name);
  const goblin::Graph graph(names, std::vector<goblin::Edge>{{0, 1}});
  for (const auto kind : {goblin::EngineKind::dense, goblin::EngineKind::sparse}) {
    std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
    std::ostringstream out;
    auto bandit = goblin::Bandit::gob_lin(graph, {.dimension = 2, .engine = {.kind = kind}});
    try {
      goblin::app::ReplaySummary summary;
      goblin::app::replay(bandit, in, out, {.items = goblin::test::tea_and_soup()}, summary);
    } catch (const goblin::DataError&) {
    }
    const std::vector<double> contexts{1.0, 0.0, 0.0, 1.0};
    for (const double score : bandit.select("a", {contexts, 2}).scores) {
      if (!std::isfinite(score)) std::abort();
    }
  }
  return 0;
}

// Any bytes are a log of rewards, or a DataError that leaves a bandit which can still decide. The input is taken for a
// log (JSON lines, or an events file), and for the blocks of an events file whose checksums are right.

#include "fit.hpp"
#include "goblin/bandit/bandit.hpp"
#include "goblin/error.hpp"
#include "support/events_file.hpp"
#include "support/tea_and_soup.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

void learn(const std::string& log) {
  goblin::Names names;
  for (const char* name : {"a", "b", "c"}) names.insert(name);
  const goblin::Graph graph(names, std::vector<goblin::Edge>{{0, 1}});
  auto bandit = goblin::Bandit::gob_lin(graph, {.dimension = 2});
  goblin::app::FitSummary summary;
  try {
    goblin::app::fit(bandit,
                     goblin::app::format_of(goblin::app::bytes_of(log), 2, "fuzz", goblin::test::tea_and_soup()),
                     "fuzz", {.batch = 3, .threads = 1}, summary);
  } catch (const goblin::DataError&) {
  }
  if (bandit.rewards() != summary.learned || bandit.user_count() != 3 + summary.new_users) std::abort();
  const std::vector<double> contexts{1.0, 0.0, 0.0, 1.0};
  for (const double score : bandit.select("a", {contexts, 2}).scores) {
    if (!std::isfinite(score)) std::abort();
  }
}

/// The first byte says whether users have names; then come blocks: kind, length, content.
std::string with_good_checksums(const std::string& input) {
  goblin::test::EventsFileWriter file(2, !input.empty() && input[0] % 2 == 1);
  for (std::size_t at = 1; at + 2 <= input.size();) {
    const auto kind = static_cast<std::uint8_t>(input[at]);
    const std::size_t length = std::min<std::size_t>(static_cast<std::uint8_t>(input[at + 1]), input.size() - at - 2);
    file.block(kind, input.substr(at + 2, length));
    at += 2 + length;
  }
  return file.bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  learn(input);
  learn(with_good_checksums(input));
  return 0;
}

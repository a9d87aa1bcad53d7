#include "goblin/report/page.hpp"
#include "report/page_parts.hpp"

#include <fmt/format.h>

namespace goblin::report {

std::string verdict_table(std::span<const Claim> claims) {
  std::string text;
  for (const Claim& claim : claims) {
    const Difference& weakest = claim.weakest();
    text += fmt::format("{:<16} {}\n{:<16} {}: {} ({} seeds, {})\n", verdict_of(claim), claim.text, "", weakest.label,
                        with_error(weakest.estimate), weakest.by_seed.size(), claim.unit);
  }
  return text;
}

}  // namespace goblin::report

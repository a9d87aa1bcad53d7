#include "goblin/data/reading.hpp"
#include "goblin/report/html.hpp"
#include "report/page_parts.hpp"
#include "report/page_sections.hpp"

#include <array>
#include <utility>

namespace goblin::report {
namespace {

constexpr std::array<std::pair<Spread, std::string_view>, 3> spreads = {
    {{Spread::every, "In every reading"}, {Spread::some, "In some readings"}, {Spread::none, "In none"}}};

const Claim* claim_in(const ReadingClaims& reading, std::string_view id) {
  for (const Claim& each : reading.claims) {
    if (each.id == id) return &each;
  }
  return nullptr;
}

}  // namespace

std::string readings_section(const Report& report) {
  std::string text;
  if (report.readings.size() < 2 || report.readings.front().claims.empty()) return text;
  append(text, R"(<h2 id="readings">Which claims hold in which reading</h2>
<p>The paper does not say all about how tags became contexts. A <em>reading</em> is one way to fill the gaps. Each
was tuned and judged by itself: settings chosen on the tuning seeds, verdicts from others, all with the same contenders
(so without balanced clusters, which only the first reading has). The other readings are tuned in two heats: the best
quarter of the settings on the first tuning seed plays the others. A cell has the verdict
and the interval of the difference that it hangs on. What is not decided does not count as holding. What the paper says of 4Cliques and of Theorem&nbsp;1 does not
depend on the reading.</p>
<ul>
)");
  const auto& first = report.readings.front();
  for (const auto& [spread, words] : spreads) {
    std::string list;
    for (const Claim& claim : first.claims) {
      if (spread_of(report.readings, claim.id) == spread) append(list, "<li>{}</li>\n", html_escaped(claim.text));
    }
    append(text, "<li><strong>{}</strong>: {}</li>\n", words,
           list.empty() ? "no claim" : fmt::format("<ul>{}</ul>", list));
  }
  append(text, "</ul>\n");
  std::vector<std::string> head = {"claim"};
  for (const ReadingClaims& reading : report.readings) head.push_back(html_escaped(reading.name));
  std::vector<std::vector<std::string>> rows;
  for (const Claim& claim : first.claims) {
    std::vector<std::string> row = {text_cell(html_escaped(claim.text))};
    for (const ReadingClaims& reading : report.readings) {
      const Claim* here = claim_in(reading, claim.id);
      if (here == nullptr) {
        row.push_back(text_cell("–"));
        continue;
      }
      const Difference& weakest = here->weakest();
      row.push_back(
          verdict_cell(here->verdict, fmt::format("{}<br><span class=\"soft\">{} to {}</span>", verdict_of(*here),
                                                  number(weakest.low), number(weakest.high))));
    }
    rows.push_back(std::move(row));
  }
  text += table(head, rows);
  append(text, "<ul>\n");
  for (const ReadingClaims& reading : report.readings) {
    append(text, "<li><em>{}</em>: {}</li>\n", html_escaped(reading.name),
           html_escaped(data::reading_named(reading.name).text));
  }
  append(text, "</ul>\n<p><a href=\"csv/readings.csv\">csv/readings.csv</a> has the differences by name.</p>\n");
  return text;
}

std::string readings_table(const std::vector<ReadingClaims>& readings) {
  std::string text;
  if (readings.size() < 2) return text;
  for (const auto& [spread, words] : spreads) {
    std::string list;
    for (const Claim& claim : readings.front().claims) {
      if (spread_of(readings, claim.id) == spread) list += fmt::format("  {}\n", claim.text);
    }
    text += fmt::format("{}:\n{}", words, list.empty() ? "  no claim\n" : list);
  }
  return text;
}

}  // namespace goblin::report

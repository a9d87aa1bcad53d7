#include "serve/log_page.hpp"

#include "serve/json_text.hpp"
#include "serve/packed_numbers.hpp"

#include <cmath>
#include <span>
#include <vector>

namespace goblin::serve {
namespace {

void append_numbers(std::string& out, std::span<const double> numbers) {
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    out += k == 0 ? '[' : ',';
    append_number(out, numbers[k]);
  }
  out += ']';
}

}  // namespace

void append_event(std::string& lines, const Record& record,
                  const std::function<std::optional<Record>(Offset)>& decision,
                  const std::function<std::string(std::string)>& outward) {
  if (record.kind != RecordKind::reward && record.kind != RecordKind::expired) return;
  const std::optional<Record> shown = record.decision == 0 ? std::nullopt : decision(record.decision);

  lines += R"({"user":)";
  append_string(lines, record.user);
  const std::size_t dimension = record.context.size();
  const std::vector<double> contexts = shown ? unpacked(shown->candidates) : std::vector<double>();
  const bool has_contexts = dimension > 0 && contexts.size() >= dimension;
  const bool has_candidates = has_contexts || (shown && !shown->candidate_items.empty());
  if (has_candidates) {
    if (!has_contexts) {
      lines += R"(,"items":)";
      lines += shown->candidate_items;
    } else {
      for (std::size_t k = 0; k + dimension <= contexts.size(); k += dimension) {
        lines += k == 0 ? R"(,"contexts":[)" : ",";
        append_numbers(lines, std::span(contexts).subspan(k, dimension));
      }
      lines += ']';
    }
    append(lines, R"(,"action":{})", shown->arm);
  } else {
    lines += R"(,"context":)";
    append_numbers(lines, record.context);
  }
  lines += R"(,"reward":)";
  append_number(lines, record.reward);
  if (has_candidates && std::isfinite(shown->probability)) {
    lines += R"(,"probability":)";
    append_number(lines, shown->probability);
  }
  if (record.decision != 0) {
    lines += R"(,"event":)";
    append_string(lines, outward(shown && !shown->event.empty() ? shown->event : event_of(record.decision)));
  }
  if (record.kind == RecordKind::expired) lines += R"(,"expired":true)";
  append(lines, R"(,"offset":{},"time":{}}})", record.offset, record.time);
  lines += '\n';
}

}  // namespace goblin::serve

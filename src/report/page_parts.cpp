#include "report/page_parts.hpp"

#include "goblin/report/html.hpp"

#include <algorithm>
#include <cmath>

namespace goblin::report {

std::string class_of(Verdict verdict) {
  std::string name(name_of(verdict));
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string number(double value) {
  const double size = std::abs(value);
  const int decimals = size >= 100.0 ? 0 : size >= 10.0 ? 1 : size >= 1.0 ? 2 : 3;
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (size < 9999.5) return text;
  for (std::size_t at = text.size(); at > (value < 0.0 ? 4U : 3U);) text.insert(at -= 3, ",");
  return text;
}

std::string with_error(const experiment::Estimate& estimate) {
  if (!estimate.standard_error) return number(estimate.mean);
  return fmt::format("{} ± {}", number(estimate.mean), number(*estimate.standard_error));
}

std::string grouped(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string list_of(std::span<const std::uint64_t> seeds) {
  if (seeds.size() > 3) return fmt::format("{} to {}", seeds.front(), seeds.back());
  std::string text;
  for (const std::uint64_t seed : seeds) text += fmt::format("{}{}", text.empty() ? "" : ", ", seed);
  return text;
}

std::string words_of(const experiment::Setting& setting) {
  const std::string rule = setting.exploration ? name_of(*setting.exploration) : fmt::format("alpha {}", setting.alpha);
  std::string text = fmt::format("{}, scale {}", rule, setting.scale);
  if (const auto grouping = experiment::name_of(setting.grouping); !grouping.empty()) text += ", " + grouping;
  for (const auto& [option, value] : experiment::options_of(setting)) text += fmt::format(", {} {}", option, value);
  return text;
}

experiment::Estimate difference(const experiment::Finalist& a, const experiment::Finalist& b) {
  std::vector<double> values;
  for (std::size_t k = 0; k < a.outcomes.size(); ++k) {
    values.push_back(a.outcomes[k].normalized_reward() - b.outcomes[k].normalized_reward());
  }
  return experiment::estimate(values);
}

std::string milliseconds(const experiment::Finalist& finalist) {
  double sum = 0.0;
  for (const auto& outcome : finalist.outcomes) {
    if (!outcome.seconds) return "–";
    sum += 1e3 * *outcome.seconds / static_cast<double>(outcome.last().round);
  }
  return number(sum / static_cast<double>(finalist.outcomes.size()));
}

std::string megabytes(const experiment::Finalist& finalist) {
  double sum = 0.0;
  for (const auto& outcome : finalist.outcomes) {
    if (!outcome.bytes) return "–";
    sum += 1e-6 * static_cast<double>(*outcome.bytes);
  }
  return number(sum / static_cast<double>(finalist.outcomes.size()));
}

std::string page_head(std::string_view title) {
  return fmt::format(R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{0}</title>
<style>{1}</style></head><body>
<h1>{0}</h1>
)",
                     html_escaped(title), html_style());
}

std::string swatch(std::string_view policy) { return colour_swatch(colour_of(policy)); }

std::string colour_swatch(std::string_view colour) {
  return fmt::format("<span class=\"swatch\" style=\"background:{}\"></span>", colour);
}

std::string number_cell(const std::string& text, bool best) {
  return fmt::format("<td class=\"number{}\">{}</td>", best ? " best" : "", text);
}

std::string text_cell(std::string_view html) { return fmt::format("<td class=\"text\">{}</td>", html); }

std::string verdict_cell(Verdict verdict, std::string_view words) {
  return fmt::format("<td class=\"verdict {}\">{}</td>", class_of(verdict), words.empty() ? name_of(verdict) : words);
}

std::string table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows) {
  std::string text = "<div class=\"scroll\"><table><thead><tr>";
  for (std::size_t k = 0; k < head.size(); ++k) {
    const bool words = !rows.empty() && (rows.front()[k].find("class=\"text") != std::string::npos ||
                                         rows.front()[k].find("class=\"verdict") != std::string::npos);
    text += fmt::format("<th{}>{}</th>", words ? " class=\"text\"" : "", head[k]);
  }
  text += "</tr></thead><tbody>\n";
  for (const auto& row : rows) {
    text += "<tr>";
    for (const std::string& cell : row) text += cell.starts_with("<td") ? cell : fmt::format("<td>{}</td>", cell);
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

std::string claims_of(const Report& report, std::string_view part) {
  std::string text;
  for (const Claim& claim : report.tuned) {
    if (claim.part != part) continue;
    append(text, "<div class=\"claim {0}\"><p>{1}</p><p class=\"verdict {0}\">{2}</p>\n", class_of(claim.verdict),
           html_escaped(claim.text), verdict_of(claim));
    std::vector<std::vector<std::string>> rows;
    for (const Difference& each : claim.differences) {
      rows.push_back({html_escaped(each.label), number_cell(with_error(each.estimate)),
                      number_cell(fmt::format("{} to {}", number(each.low), number(each.high))),
                      verdict_cell(each.verdict)});
    }
    append(text, "<details><summary>{} difference{}, {}</summary>{}</details></div>\n", claim.differences.size(),
           claim.differences.size() == 1 ? "" : "s", html_escaped(claim.unit),
           table({"difference", "mean ± s.e.", "interval", "by itself"}, rows));
  }
  return text;
}

std::string figure_of(std::span<const DrawnFigure> figures, std::string_view name) {
  std::string text;
  for (const DrawnFigure& drawn : figures) {
    if (drawn.figure.name != name) continue;
    append(text, "<figure><div class=\"panels columns-{}\">\n", drawn.figure.columns);
    for (const std::string& panel : drawn.panels) append(text, "<div>{}</div>\n", panel);
    append(text,
           "</div><figcaption>{} <a href=\"figures/{}.pdf\">PDF</a> <a href=\"figures/{}.svg\">SVG</a> "
           "<a href=\"csv/{}.csv\">CSV</a></figcaption></figure>\n",
           html_escaped(drawn.figure.caption), name, name, name);
  }
  return text;
}

}  // namespace goblin::report

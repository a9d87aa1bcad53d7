#pragma once

#include "goblin/report/page.hpp"

#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

/// What the sections of the report's page are put together from: numbers in words, cells, tables, claims and figures.
namespace goblin::report {

/// Appends formatted text.
template <typename... Values>
void append(std::string& text, fmt::format_string<Values...> format, Values&&... values) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Values>(values)...);
}

/// A number with as many decimals as it takes to see three digits; thousands apart from 10,000 on.
[[nodiscard]] std::string number(double value);
/// "12.3 ± 0.45"
[[nodiscard]] std::string with_error(const experiment::Estimate& estimate);
/// With thousands apart: 10,000.
[[nodiscard]] std::string grouped(std::uint64_t value);
/// "1, 2, 3", or "1 to 20" where there are more.
[[nodiscard]] std::string list_of(std::span<const std::uint64_t> seeds);
/// "alpha 0.1, scale 1, 50 clusters", and what else differs from the defaults
[[nodiscard]] std::string words_of(const experiment::Setting& setting);

/// The mean difference of the normalized rewards, seed by seed.
[[nodiscard]] experiment::Estimate difference(const experiment::Finalist& a, const experiment::Finalist& b);

/// What a round took on average, in milliseconds, and the bandit at the end, in millions of bytes; a dash where that is
/// not known.
[[nodiscard]] std::string milliseconds(const experiment::Finalist& finalist);
[[nodiscard]] std::string megabytes(const experiment::Finalist& finalist);

/// The beginning of a page, up to its body.
[[nodiscard]] std::string page_head(std::string_view title);
/// A spot in a colour: the policy's, or a given one.
[[nodiscard]] std::string swatch(std::string_view policy);
[[nodiscard]] std::string colour_swatch(std::string_view colour);
/// "does-not-hold", for the style sheet.
[[nodiscard]] std::string class_of(Verdict verdict);
/// Cells of a table. text_cell takes HTML; what is not HTML yet has to be escaped.
[[nodiscard]] std::string number_cell(const std::string& text, bool best = false);
[[nodiscard]] std::string text_cell(std::string_view html);
/// In the verdict's own words, or in others.
[[nodiscard]] std::string verdict_cell(Verdict verdict, std::string_view words = {});
/// Cells that are no cells of a table yet become some.
[[nodiscard]] std::string table(const std::vector<std::string>& head,
                                const std::vector<std::vector<std::string>>& rows);

/// The claims of a part of the report with all their differences.
[[nodiscard]] std::string claims_of(const Report& report, std::string_view part);
/// The figure of that name; nothing if there is none.
[[nodiscard]] std::string figure_of(std::span<const DrawnFigure> figures, std::string_view name);

}  // namespace goblin::report

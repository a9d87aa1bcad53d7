#pragma once

#include "goblin/experiment/study.hpp"

#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

/// Studies as CSV, a row for each contender, finalist and evaluation seed.
namespace goblin::report {

struct NamedStudy {
  std::string_view name;
  const experiment::StudyResult* result;
};

/// The number, or nothing.
[[nodiscard]] std::string or_empty(const std::optional<double>& value);

/// The columns of a setting, and what stands in them.
inline constexpr std::string_view setting_columns = "policy,alpha,scale,grouping,exploration,options";
[[nodiscard]] std::string setting_fields(const experiment::Setting& setting);

void write_study_results(std::ostream& out, std::span<const NamedStudy> studies);
void write_study_costs(std::ostream& out, std::span<const NamedStudy> studies);

}  // namespace goblin::report

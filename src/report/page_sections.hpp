#pragma once

#include "goblin/report/page.hpp"

#include <string>

/// The sections of the report's page, as HTML, one file each.
namespace goblin::report {

/// The claims about the data sets in every reading; nothing if there is only one.
[[nodiscard]] std::string readings_section(const Report& report);
[[nodiscard]] std::string cliques_section(const Report& report);
[[nodiscard]] std::string dataset_section(const Report& report, const experiment::paper::DatasetResult& dataset);
[[nodiscard]] std::string theorem_section(const Report& report);
/// How it was run: rounds, seeds, settings.
[[nodiscard]] std::string run_section(const Report& report);

}  // namespace goblin::report

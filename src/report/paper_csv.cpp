#include "goblin/report/page.hpp"
#include "report/study_csv.hpp"

#include <fmt/format.h>

namespace goblin::report {
namespace {

using experiment::paper::Results;

std::vector<NamedStudy> all_studies(const Results& results) {
  std::vector<NamedStudy> studies;
  for (const auto& at : results.grid) studies.push_back({"grid", &at.result});
  for (const auto& at : results.curve) studies.push_back({"graph-noise", &at.result});
  for (const auto& each : results.theorem) studies.push_back({"theorem", &each});
  for (const auto& each : results.datasets) {
    studies.push_back({"dataset", &each.result});
    studies.push_back({"clusters", &each.trade_off});
  }
  for (const auto& other : results.others) {
    for (const auto& each : other.datasets) studies.push_back({other.name, &each.result});
  }
  return studies;
}

}  // namespace

void write_verdicts_csv(std::ostream& out, const Report& report) {
  out << "claim,choice,verdict,difference,difference_verdict,seeds,mean,standard_error,low,high,unit,text\n";
  const auto write = [&](const std::vector<Claim>& claims, const char* choice) {
    for (const Claim& claim : claims) {
      for (const Difference& each : claim.differences) {
        out << fmt::format("{},{},{},\"{}\",{},{},{},{},{},{},\"{}\",\"{}\"\n", claim.id, choice, verdict_of(claim),
                           each.label, name_of(each.verdict), each.by_seed.size(), each.estimate.mean,
                           or_empty(each.estimate.standard_error), each.low, each.high, claim.unit, claim.text);
      }
    }
  };
  write(report.tuned, "tuned");
  write(report.hindsight, "hindsight");
}

void write_readings_csv(std::ostream& out, const Report& report) {
  out << "reading,claim,verdict,difference,seeds,mean,standard_error,low,high,unit,text\n";
  for (const ReadingClaims& reading : report.readings) {
    for (const Claim& claim : reading.claims) {
      const Difference& weakest = claim.weakest();
      out << fmt::format("{},{},{},\"{}\",{},{},{},{},{},\"{}\",\"{}\"\n", reading.name, claim.id, verdict_of(claim),
                         weakest.label, weakest.by_seed.size(), weakest.estimate.mean,
                         or_empty(weakest.estimate.standard_error), weakest.low, weakest.high, claim.unit, claim.text);
    }
  }
}

void write_results_csv(std::ostream& out, const Results& results) { write_study_results(out, all_studies(results)); }

void write_times_csv(std::ostream& out, const Results& results) { write_study_costs(out, all_studies(results)); }

}  // namespace goblin::report

#pragma once

#include "goblin/experiment/paper.hpp"
#include "goblin/report/figure.hpp"

#include <vector>

namespace goblin::report {

/// The paper's figures and those beyond it, as far as the results go: "4cliques", "lastfm", "delicious", "theorem-...",
/// "graph-noise", "clusters-...".
[[nodiscard]] std::vector<Figure> paper_figures(const experiment::paper::Results& results);

}  // namespace goblin::report

#pragma once

#include "goblin/data/dataset.hpp"
#include "goblin/experiment/cell.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

/// The worlds that studies are played in, and the seeds.
namespace goblin::experiment {

/// Evaluation seeds are 1, 2, ...; tuning seeds start here.
inline constexpr std::uint64_t first_tuning_seed = 1001;

/// first, first + 1, ...
[[nodiscard]] std::vector<std::uint64_t> seeds_from(std::uint64_t first, std::size_t count);

/// 4Cliques. The noises are those of world::CliquesOptions, and so is drift_after.
[[nodiscard]] Condition cliques(double graph_noise, double payoff_noise,
                                std::optional<std::uint64_t> drift_after = std::nullopt);

/// The users and items of a data set.
[[nodiscard]] Condition catalogue(std::string_view name, const std::shared_ptr<const data::Dataset>& data);

/// A linear world over the graph of a data set, with payoff noise 0.25.
[[nodiscard]] Condition linear_over(std::string_view name, const std::shared_ptr<const data::Dataset>& data);

}  // namespace goblin::experiment

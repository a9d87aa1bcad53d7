#pragma once

#include "serve/service.hpp"

#include <string>

/// The problems that the service finds, one function each: a type and its title belong together and stand here only.
/// The detail names the field, its value and its bound.
namespace goblin::serve::refusals {

[[nodiscard]] Problem invalid(std::string detail);            ///< 400
[[nodiscard]] Problem unknown_user(std::string detail);       ///< 404
[[nodiscard]] Problem unknown_item(std::string detail);       ///< 404
[[nodiscard]] Problem unknown_event(std::string detail);      ///< 404
[[nodiscard]] Problem unknown_edge(std::string detail);       ///< 404
[[nodiscard]] Problem event_taken(std::string detail);        ///< 409
[[nodiscard]] Problem other_reward(std::string detail);       ///< 409
[[nodiscard]] Problem full(std::string detail);               ///< 409: as many users or items as there may be
[[nodiscard]] Problem user_joined(std::string detail);        ///< 409: while the call was under way
[[nodiscard]] Problem past_horizon(std::string detail);       ///< 410
[[nodiscard]] Problem too_large(std::string detail);          ///< 413: for the log, at once
[[nodiscard]] Problem busy(std::string detail);               ///< 429, try again
[[nodiscard]] Problem learning_behind(std::string detail);    ///< 429, try again
[[nodiscard]] Problem not_learned_yet(std::string detail);    ///< 503, try again
[[nodiscard]] Problem other_partition(std::string detail);    ///< 409: what cannot be across partitions
[[nodiscard]] Problem partition_away(std::string detail);     ///< 503, try again
[[nodiscard]] Problem store_unavailable(std::string detail);  ///< 503, try again
[[nodiscard]] Problem stopping();                             ///< 503

}  // namespace goblin::serve::refusals

#include "serve/refusals.hpp"

#include <utility>

namespace goblin::serve::refusals {

Problem invalid(std::string detail) {
  return {400, "invalid-field", "A field has a value that it cannot have.", std::move(detail)};
}
Problem unknown_user(std::string detail) { return {404, "unknown-user", "There is no such user.", std::move(detail)}; }
Problem unknown_item(std::string detail) { return {404, "unknown-item", "There is no such item.", std::move(detail)}; }
Problem unknown_event(std::string detail) {
  return {404, "unknown-event", "There is no such decision.", std::move(detail)};
}
Problem unknown_edge(std::string detail) {
  return {404, "unknown-edge", "These users are not friends.", std::move(detail)};
}
Problem event_taken(std::string detail) {
  return {409, "event-taken", "Another decision has this name.", std::move(detail)};
}
Problem other_reward(std::string detail) {
  return {409, "other-reward", "The decision has another reward already.", std::move(detail)};
}
Problem full(std::string detail) {
  return {409, "full", "There are as many of these as there may be.", std::move(detail)};
}
Problem user_joined(std::string detail) {
  return {409, "user-joined", "The user has joined meanwhile.", std::move(detail)};
}
Problem past_horizon(std::string detail) {
  return {410, "past-horizon", "The reward came too late.", std::move(detail)};
}
Problem too_large(std::string detail) {
  return {413, "too-large", "The log does not take so much at once.", std::move(detail)};
}
Problem busy(std::string detail) {
  return {429, "too-busy", "Too many requests wait to be written.", std::move(detail), 1};
}
Problem learning_behind(std::string detail) {
  return {429, "learning-behind", "Too many rewards wait to be learned.", std::move(detail), 5};
}
Problem not_learned_yet(std::string detail) {
  return {503, "not-learned-yet", "What the decision should come after has not been learned here.", std::move(detail),
          1};
}
Problem other_partition(std::string detail) {
  return {409, "other-partition", "The users are in different partitions.", std::move(detail)};
}
Problem partition_away(std::string detail) {
  return {503, "partition-away", "The server that has the user cannot be reached.", std::move(detail), 1};
}
Problem store_unavailable(std::string detail) {
  return {503, "store-unavailable", "The store cannot be written.", std::move(detail), 1};
}
Problem stopping() { return {503, "stopping", "The server is about to stop.", "try another one, or later", 1}; }

}  // namespace goblin::serve::refusals

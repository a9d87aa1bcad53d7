#pragma once

#include "serve/exchange.hpp"
#include "serve/service.hpp"

#include <functional>
#include <vector>

namespace goblin::serve {

/// Gives rewards to the partitions that they belong to, here or at other servers, and `done` their results, in the
/// order of the requests. A reward for a user belongs where the user does; one for a decision that the server named,
/// where the name says. One for a decision that its caller named may belong anywhere: it goes from partition to
/// partition until one knows the decision, those that are here first.
void scatter_rewards(Exchange& exchange, std::vector<RewardRequest> requests,
                     std::function<void(std::vector<Result<Accepted>>)> done);

}  // namespace goblin::serve

#pragma once

#include "serve/peers.hpp"
#include "serve/service.hpp"

#include <cstddef>
#include <vector>

/// What other servers answered, read back into what the service here would have given.
namespace goblin::serve {

/// Of a call that changes something.
[[nodiscard]] Result<Accepted> accepted_of(const Result<Reply>& answer);
/// Of /v1/rewards with so many rewards: a result for each, or one problem for all.
[[nodiscard]] std::vector<Result<Accepted>> accepted_of(const Result<Reply>& answer, std::size_t count);

}  // namespace goblin::serve

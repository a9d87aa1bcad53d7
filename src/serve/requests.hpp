#pragma once

#include "serve/service.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace goblin::serve {

/// What requests are held to; a request beyond them is refused before the service sees it.
struct RequestLimits {
  std::size_t dimension = 0;
  std::size_t most_candidates = 10'000;
  std::size_t most_name_bytes = 256;
  std::size_t most_rewards = 10'000;  ///< in one request
  std::size_t most_friends = 10'000;  ///< in one request
};

struct ExplainRequest {
  std::string user;
  std::vector<double> context = {};
  std::string item = {};
  std::size_t k = 10;
};

/// Bytes behind a body that must be readable (not more than 64): the parser reads in blocks.
inline constexpr std::size_t body_padding = 64;

/// Reads the JSON bodies of requests. Everything that is not as docs/serving.md says is a problem whose detail names
/// the field, its value and its bound: other fields, a field twice, other types, wrong dimensions. Memory is used
/// again, so each thread has its own.
class RequestReader {
 public:
  explicit RequestReader(const RequestLimits& limits);
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;
  ~RequestReader();

  // Of a body, behind which `body_padding` bytes can be read.
  [[nodiscard]] Result<SelectRequest> select(std::string_view body);
  [[nodiscard]] Result<SelectRequest> rank(std::string_view body);
  [[nodiscard]] Result<RewardRequest> reward(std::string_view body);
  /// The whole is refused if it is no array of objects; else each has its own result.
  [[nodiscard]] Result<std::vector<Result<RewardRequest>>> rewards(std::string_view body);
  /// The user's name stands in the address.
  [[nodiscard]] Result<UserRequest> user(std::string name, std::string_view body);
  [[nodiscard]] Result<ItemView> item(std::string name, std::string_view body);
  /// The weight of an edge.
  [[nodiscard]] Result<double> edge(std::string_view body);
  [[nodiscard]] Result<ExplainRequest> explain(std::string_view body);

  /// Why a text cannot be a name, "has 300 bytes (must have at most 256)"; empty if it can.
  [[nodiscard]] std::string wrong_with_name(std::string_view name) const;
  [[nodiscard]] const RequestLimits& limits() const { return limits_; }

 private:
  struct State;
  [[nodiscard]] Result<SelectRequest> decision(std::string_view body, bool with_k);
  [[nodiscard]] std::optional<SelectRequest> quick_decision(std::string_view body, bool with_k);

  RequestLimits limits_;
  std::unique_ptr<State> state_;
};

}  // namespace goblin::serve

#pragma once

#include "serve/json_log.hpp"
#include "serve/metrics.hpp"
#include "serve/partitions.hpp"
#include "serve/peer_calls.hpp"
#include "serve/peers.hpp"
#include "serve/request_head.hpp"
#include "serve/requests.hpp"
#include "serve/service.hpp"
#include "serve/workers.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace goblin::serve {

/// An answer that is being made; it keeps its memory from request to request.
struct Answer {
  int status = 200;
  std::string_view type = "application/json";
  std::string headers;  ///< beside those that every answer has: "Allow: GET\r\n"
  std::string body;

  void clear();
};

/// What every call may need, whichever thread it comes in on.
struct Site {
  Partitions& partitions;
  Peers* peers;  ///< who have the partitions that are not here; nullptr: all are here
  JsonLog& log;
  Metrics& metrics;
  Workers& quick_workers;   ///< for what takes milliseconds
  Workers& slow_workers;    ///< for what may take seconds
  Workers& stream_workers;  ///< for pages of the log
  PeerCalls& peer_calls;    ///< that wait for other servers
  std::string version;
  std::string started;  ///< when, as text
  std::string openapi;  ///< the document
  std::chrono::steady_clock::time_point start;
};

/// One request and its answer. The handler of a call looks at the request and ends the exchange, at once or later, in
/// exactly one way: send, refuse, in_background or stream. All but the work in the background happens on one thread.
class Exchange {
 public:
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  [[nodiscard]] const RequestHead& head() const { return head_; }
  /// What stands in the address in place of the names in braces.
  [[nodiscard]] const std::string& name(std::size_t place) const { return names_[place]; }
  [[nodiscard]] std::string_view query() const { return query_; }
  /// `body_padding` bytes behind it can be read.
  [[nodiscard]] std::string_view body() const { return body_; }

  [[nodiscard]] virtual const Site& site() const = 0;
  [[nodiscard]] virtual Mailbox& mailbox() = 0;
  [[nodiscard]] virtual RequestReader& reader() = 0;

  /// To be filled, then sent.
  [[nodiscard]] Answer& answer() { return answer_; }
  virtual void send() = 0;
  virtual void refuse(const Problem& problem) = 0;
  /// Has `make` done by a worker, and sends what it gives as the body.
  virtual void in_background(Workers& workers, std::function<Result<std::string>()> make) = 0;
  /// Has the server answer that has the partition: `done` gets what it says, on this thread. Refused where this request
  /// was passed on itself.
  virtual void ask(std::size_t partition, std::string_view method, std::string target, std::string body,
                   std::function<void(Result<Reply>)> done) = 0;
  /// The partition that another server asked this one for; nothing where a caller asks. Throws AddressError.
  [[nodiscard]] std::optional<std::size_t> asked_for() const;
  /// The service is there until the answer has been sent.
  void keep(std::shared_ptr<Service> service) {
    if (service.use_count() > 0) kept_.push_back(std::move(service));
  }
  /// Sends pages until there are none. `next` is called by a worker; it appends a page and gives whether more follow.
  virtual void stream(std::function<bool(std::string&)> next) = 0;

 protected:
  Exchange() = default;
  virtual ~Exchange() = default;

  RequestHead head_;
  std::array<std::string, 2> names_;
  std::string_view query_;
  std::string body_;
  Answer answer_;
  std::vector<std::shared_ptr<Service>> kept_;
};

}  // namespace goblin::serve

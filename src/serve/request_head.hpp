#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/verb.hpp>

namespace goblin::serve {

/// What the server wants to know of the head of a request. The texts keep their memory from request to request.
struct RequestHead {
  boost::beast::http::verb method = boost::beast::http::verb::unknown;
  std::string method_name;
  std::string target;
  bool is_http_1_0 = false;
  std::size_t hosts = 0;  ///< how many Host fields there were
  std::string host;
  std::string authorization;
  std::string content_type;
  std::string content_encoding;
  std::string request_id;
  std::string none_match;  ///< If-None-Match
  std::string partition;   ///< Goblin-Partition: which one another server asks for (peers.hpp)
  bool expects_continue = false;
  bool has_length = false;  ///< Content-Length or Transfer-Encoding is there
  bool is_coded = false;    ///< Transfer-Encoding is there
  /// Transfer-Encoding is there and says something else than "chunked", once, in HTTP/1.1. Where such a body ends is
  /// not known here, and whoever stands between may think otherwise: what follows must not be taken for a request.
  bool has_strange_coding = false;

  void clear();
};

/// Beast's parser, which keeps of the head only what the server wants, and appends the body to a text. For one request.
class RequestParser final : public boost::beast::http::basic_parser<true> {
 public:
  RequestParser(RequestHead& head, std::string& body) : head_(head), body_(body) {}

  /// From now on the body is read and thrown away.
  void discard_body() { discards_ = true; }

 private:
  using Error = boost::beast::error_code;
  using View = boost::beast::string_view;

  void on_request_impl(boost::beast::http::verb method, View name, View target, int version, Error& error) override;
  void on_response_impl(int, View, int, Error&) override {}
  void on_field_impl(boost::beast::http::field field, View name, View value, Error& error) override;
  void on_header_impl(Error& error) override;
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, Error& error) override;
  std::size_t on_body_impl(View bytes, Error& error) override;
  void on_chunk_header_impl(std::uint64_t, View, Error&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, View bytes, Error& error) override {
    return on_body_impl(bytes, error);
  }
  void on_finish_impl(Error&) override {}

  RequestHead& head_;
  std::string& body_;
  bool head_done_ = false;
  bool discards_ = false;
};

}  // namespace goblin::serve

#include "serve/problems.hpp"

#include <utility>

namespace goblin::serve::problems {

Problem malformed_request(std::string detail) {
  return {400, "malformed-request", "The request is not HTTP/1.1.", std::move(detail)};
}
Problem malformed_json(std::string detail) {
  return {400, "malformed-json", "The body is not JSON.", std::move(detail)};
}
Problem unknown_field(std::string detail) {
  return {400, "unknown-field", "A field has a name that this call does not have.", std::move(detail)};
}
Problem missing_field(std::string detail) { return {400, "missing-field", "A field is missing.", std::move(detail)}; }
Problem invalid_field(std::string detail) {
  return {400, "invalid-field", "A field has a value that it cannot have.", std::move(detail)};
}
Problem wrong_dimension(std::string detail) {
  return {400, "wrong-dimension", "A context has another dimension than the bandit.", std::move(detail)};
}
Problem invalid_parameter(std::string detail) {
  return {400, "invalid-parameter", "The address has a value that it cannot have.", std::move(detail)};
}
Problem key_needed(std::string detail) { return {401, "key-needed", "This call needs a key.", std::move(detail)}; }
Problem not_allowed(std::string detail) {
  return {403, "not-allowed", "The key does not have the right to do this.", std::move(detail)};
}
Problem foreign_host(std::string detail) {
  return {403, "foreign-host", "Without keys, only requests to this machine by its own name are answered.",
          std::move(detail)};
}
Problem unknown_path(std::string detail) {
  return {404, "unknown-path", "There is nothing at this address.", std::move(detail)};
}
Problem wrong_method(std::string detail) {
  return {405, "wrong-method", "This address has no such method.", std::move(detail)};
}
Problem too_slow(std::string detail) {
  return {408, "too-slow", "The request did not come in time.", std::move(detail)};
}
Problem length_needed(std::string detail) {
  return {411, "length-needed", "The request does not say how long its body is.", std::move(detail)};
}
Problem body_too_large(std::string detail) {
  return {413, "body-too-large", "The body is longer than this server takes.", std::move(detail)};
}
Problem not_json(std::string detail) {
  return {415, "not-json", "The body is of another type than JSON.", std::move(detail)};
}
Problem head_too_large(std::string detail) {
  return {431, "head-too-large", "The head of the request is longer than this server takes.", std::move(detail)};
}
Problem failure(std::string detail) { return {500, "failure", "Something went wrong here.", std::move(detail)}; }
Problem busy(std::string detail) { return {503, "busy", "The server has too much to do.", std::move(detail), 1}; }
Problem not_ready(std::string detail) { return {503, "not-ready", "The server is not ready.", std::move(detail), 1}; }

}  // namespace goblin::serve::problems

#include "goblin/error.hpp"
#include "http_fixture.hpp"
#include "serve/keys.hpp"

#include <sstream>
#include <string>

#include <gmock/gmock.h>

namespace goblin::serve {
namespace http_keys_test {

using ::testing::HasSubstr;
using ::testing::Not;

std::string hash_of(const std::string& key) { return hexadecimal(Sha256Hasher()(key)); }

Keys keys_in(const std::string& text) {
  std::istringstream in(text);
  return Keys::read(in, "keys");
}

std::string complaint(const std::string& text) {
  try {
    static_cast<void>(keys_in(text));
  } catch (const DataError& error) {
    return error.what();
  }
  return "none";
}

TEST(Keys, are_found_by_their_hash) {
  EXPECT_EQ(hash_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const Keys keys =
      keys_in("# ours\n\nweb " + hash_of("one") + " decide,learn # the site\n boss " + hash_of("two") + "\tadmin\r\n");
  ASSERT_EQ(keys.all().size(), 2);
  Sha256Hasher hasher;
  EXPECT_EQ(keys.find(hasher("three")), nullptr);
  const Keys::Key* web = keys.find(hasher("one"));
  ASSERT_NE(web, nullptr);
  EXPECT_EQ(web->name, "web");
  EXPECT_TRUE(web->may(Right::decide));
  EXPECT_TRUE(web->may(Right::learn));
  EXPECT_FALSE(web->may(Right::edit));
  EXPECT_FALSE(web->may(Right::read));
  const Keys::Key* boss = keys.find(hasher("two"));
  ASSERT_NE(boss, nullptr);
  for (const Right right : {Right::decide, Right::learn, Right::edit, Right::read, Right::admin}) {
    EXPECT_TRUE(boss->may(right));
  }
}

TEST(Keys, of_a_bad_file_are_told_without_showing_any) {
  const std::string hash = hash_of("one");
  EXPECT_EQ(complaint(""), "keys: has no key in it (one line a key: NAME SHA256 right,right,...)");
  EXPECT_EQ(complaint("web " + hash), "keys:1: must have three words: NAME SHA256 right,right,...");
  EXPECT_EQ(complaint("\nweb " + hash + " decide learn"), "keys:2: must have three words: NAME SHA256 right,right,...");
  EXPECT_EQ(complaint("web " + hash + " decide,"),
            "keys:1: '' is no right (must be decide, learn, edit, read or admin, with commas between several)");
  EXPECT_EQ(complaint("web " + hash_of("") + " read"), "keys:1: is the SHA-256 of no text at all (the key was empty)");
  EXPECT_THAT(complaint("web " + hash + " Decide"), HasSubstr("'Decide' is no right"));
  EXPECT_THAT(complaint("web secret-key decide"), HasSubstr("keys:1: the second word is not a SHA-256"));
  EXPECT_THAT(complaint("web secret-key decide"), Not(HasSubstr("secret-key")));
  EXPECT_THAT(complaint("web " + hash.substr(1) + "g decide"), HasSubstr("not a SHA-256"));
  EXPECT_EQ(complaint("web " + hash + " read\nweb " + hash_of("two") + " read"), "keys:2: 'web' stands twice");
  EXPECT_EQ(complaint("web " + hash + " read\napp " + hash + " read"), "keys:2: is the same key as 'web'");
  EXPECT_THROW(static_cast<void>(Keys::read(std::filesystem::path("/nowhere/keys"))), DataError);
}

class HttpKeys : public HttpFixture {
 protected:
  void SetUp() override {
    write("web " + hash_of("web-key") + " decide,learn\nops " + hash_of("ops-key") + " read\nboss " +
          hash_of("boss-key") + " admin\neditor " + hash_of("editor-key") + " edit\n");
    options_.keys = folder_ / "keys";
    start();
  }
  void write(const std::string& text) { write_file(folder_ / "keys", text); }
  int status(std::string_view method, std::string_view path, std::string_view body, const std::string& key) {
    return call(method, path, body, "Authorization: Bearer " + key + "\r\n").status;
  }
};

TEST_F(HttpKeys, each_may_do_what_it_says) {
  const std::string_view reward = R"({"event":"none","reward":1})";
  EXPECT_EQ(status("POST", "/v1/select", a_select, "web-key"), 200);
  EXPECT_EQ(status("POST", "/v1/reward", reward, "web-key"), 404);
  EXPECT_EQ(status("GET", "/v1/status", "", "web-key"), 403);
  EXPECT_EQ(status("PUT", "/v1/users/new", "", "web-key"), 403);
  EXPECT_EQ(status("GET", "/v1/status", "", "ops-key"), 200);
  EXPECT_EQ(status("GET", "/metrics", "", "ops-key"), 200);
  EXPECT_EQ(status("POST", "/v1/select", a_select, "ops-key"), 403);
  EXPECT_EQ(status("PUT", "/v1/users/new", "", "editor-key"), 200);
  EXPECT_EQ(status("GET", "/v1/users/new", "", "editor-key"), 403);
  EXPECT_EQ(status("DELETE", "/v1/edges/u1/u2", "", "boss-key"), 200);
  EXPECT_EQ(status("GET", "/v1/log", "", "boss-key"), 200);
  EXPECT_EQ(call("POST", "/v1/select", a_select, "authorization:   bearer web-key\r\n").status, 200);
}

TEST_F(HttpKeys, without_one_there_is_little_to_see) {
  for (const std::string fields :
       {"", "Authorization: Bearer wrong\r\n", "Authorization: web-key\r\n", "Authorization: Bearer\r\n",
        "Authorization: Basic d2ViLWtleQ==\r\n", "Authorization: Bearer web-key web-key\r\n",
        "Authorization: Bearer web-key\r\nAuthorization: Bearer web-key\r\n"}) {
    auto client = connect();
    const auto answer = client.call("POST", "/v1/select", a_select, fields);
    EXPECT_EQ(answer.status, 401) << fields;
    EXPECT_EQ(answer.problem(), "key-needed");
    EXPECT_TRUE(answer.fields.at("www-authenticate").starts_with("Bearer"));
    EXPECT_EQ(client.call("POST", "/v1/select", a_select, "Authorization: Bearer web-key\r\n").status, 200);
  }
  EXPECT_EQ(call("GET", "/v1/status?key=boss-key").status, 401);
  for (const char* open : {"/livez", "/readyz", "/openapi.json"}) EXPECT_EQ(call("GET", open).status, 200) << open;
  EXPECT_EQ(call("GET", "/nowhere").status, 404);
  EXPECT_EQ(service_->status().decisions, 7);
}

TEST_F(HttpKeys, other_hosts_may_be_named) {
  EXPECT_EQ(call("GET", "http://bandit.example/livez").status, 200);
  auto client = connect();
  client.send("GET /v1/status HTTP/1.1\r\nHost: bandit.example\r\nAuthorization: Bearer ops-key\r\n\r\n");
  EXPECT_EQ(client.receive()->status, 200);
}

TEST_F(HttpKeys, are_read_again) {
  auto client = connect();
  const std::string old_key = "Authorization: Bearer web-key\r\n";
  const std::string new_key = "Authorization: Bearer new-key\r\n";
  EXPECT_EQ(client.call("POST", "/v1/select", a_select, old_key).status, 200);
  write("web new-key decide\n");
  server_->reload();
  EXPECT_EQ(client.call("POST", "/v1/select", a_select, old_key).status, 200) << "the old keys stay";
  write("web " + hash_of("new-key") + " decide\n");
  server_->reload();
  EXPECT_EQ(client.call("POST", "/v1/select", a_select, old_key).status, 401);
  EXPECT_EQ(client.call("POST", "/v1/select", a_select, new_key).status, 200);
  const std::string log = said();
  EXPECT_THAT(log, HasSubstr("What was read before stays: "));
  EXPECT_THAT(log, HasSubstr("The file was read again."));
  EXPECT_THAT(log, Not(HasSubstr("new-key")));
}

TEST_F(HttpKeys, are_never_in_the_log) {
  status("POST", "/v1/select", R"({"user":"private","contexts":[[1]]})", "web-key");
  status("POST", "/v1/select", a_select, "wrong-key");
  EXPECT_EQ(call("GET", "/v1/status?key=boss-key").status, 401);
  const std::string log = said();
  for (const char* word : {"web-key", "wrong-key", "boss-key", "private"}) EXPECT_THAT(log, Not(HasSubstr(word)));
  EXPECT_THAT(log, HasSubstr(R"("method":"POST","path":"/v1/select","status":400)"));
  EXPECT_THAT(log, HasSubstr(R"("problem":"wrong-dimension")"));
  for (std::size_t begin = 0; begin < log.size();) {
    const std::size_t end = log.find('\n', begin);
    EXPECT_TRUE(nlohmann::json::accept(log.substr(begin, end - begin)));
    begin = end + 1;
  }
}

}  // namespace http_keys_test
}  // namespace goblin::serve

#include "goblin/error.hpp"
#include "http_fixture.hpp"

#include <memory>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <string>

namespace goblin::serve {
namespace http_tls_test {

/// A certificate that it has given itself, and its key, as PEM files.
void write_certificate(const std::filesystem::path& certificate, const std::filesystem::path& key) {
  EVP_PKEY* pair = EVP_EC_gen("P-256");
  X509* x509 = X509_new();
  ASN1_INTEGER_set(X509_get_serialNumber(x509), 1);
  X509_gmtime_adj(X509_getm_notBefore(x509), 0);
  X509_gmtime_adj(X509_getm_notAfter(x509), 3600);
  X509_set_pubkey(x509, pair);
  X509_NAME* name = X509_get_subject_name(x509);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
  X509_set_issuer_name(x509, name);
  X509_sign(x509, pair, EVP_sha256());
  std::FILE* file = std::fopen(certificate.c_str(), "w");
  PEM_write_X509(file, x509);
  std::fclose(file);
  file = std::fopen(key.c_str(), "w");
  PEM_write_PrivateKey(file, pair, nullptr, nullptr, 0, nullptr, nullptr);
  std::fclose(file);
  X509_free(x509);
  EVP_PKEY_free(pair);
}

/// A caller over TLS.
class TlsClient {
 public:
  explicit TlsClient(std::uint16_t port, int newest_version = TLS1_3_VERSION)
      : context_(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free) {
    SSL_CTX_set_min_proto_version(context_.get(), TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context_.get(), newest_version);
    SSL_CTX_set_security_level(context_.get(), 0);
    connection_.reset(BIO_new_ssl_connect(context_.get()));
    BIO_set_conn_hostname(connection_.get(), fmt::format("127.0.0.1:{}", port).c_str());
    connected_ = BIO_do_connect(connection_.get()) == 1;
  }

  [[nodiscard]] bool connected() const { return connected_; }
  /// What comes until the other side closes.
  std::string call(const std::string& bytes) {
    BIO_write(connection_.get(), bytes.data(), static_cast<int>(bytes.size()));
    std::string text;
    char block[4096];
    for (int count = 0; (count = BIO_read(connection_.get(), block, sizeof block)) > 0;) {
      text.append(block, static_cast<std::size_t>(count));
    }
    return text;
  }

 private:
  struct FreeAll {
    void operator()(BIO* bio) const { BIO_free_all(bio); }
  };
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::unique_ptr<BIO, FreeAll> connection_;
  bool connected_ = false;
};

class HttpTls : public HttpFixture {
 protected:
  void SetUp() override {
    options_.certificate = folder_ / "certificate.pem";
    options_.private_key = folder_ / "key.pem";
    write_certificate(options_.certificate, options_.private_key);
  }
};

TEST_F(HttpTls, answers_over_tls) {
  start();
  EXPECT_TRUE(server_->address().starts_with("https://127.0.0.1:"));
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsClient client(server_->port(), version);
    ASSERT_TRUE(client.connected());
    const std::string answers =
        client.call(HttpClient::request("POST", "/v1/select", a_select) +
                    HttpClient::request("POST", "/v1/select", "{") + HttpClient::request("GET", "/openapi.json") +
                    HttpClient::request("GET", "/v1/log", "", "Connection: close\r\n"));
    EXPECT_NE(answers.find("\"event\":\"g-"), std::string::npos);
    EXPECT_NE(answers.find("/problems/malformed-json"), std::string::npos);
    EXPECT_NE(answers.find("\"openapi\""), std::string::npos);
    EXPECT_TRUE(answers.ends_with("0\r\n\r\n")) << answers.size();
  }
}

TEST_F(HttpTls, old_versions_and_plain_callers_are_refused) {
  start();
  EXPECT_FALSE(TlsClient(server_->port(), TLS1_1_VERSION).connected());
  auto plain = connect();
  plain.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_FALSE(plain.receive());
  EXPECT_TRUE(TlsClient(server_->port()).connected());
}

TEST_F(HttpTls, a_caller_who_does_not_shake_hands_is_dropped) {
  options_.limits.head_time = std::chrono::milliseconds(300);
  start();
  auto silent = connect();
  EXPECT_TRUE(silent.is_closed());
}

TEST_F(HttpTls, the_certificate_is_read_again) {
  start();
  write_file(options_.certificate, "nothing");
  server_->reload();
  EXPECT_TRUE(TlsClient(server_->port()).connected()) << "the old one stays";
  write_certificate(options_.certificate, options_.private_key);
  server_->reload();
  EXPECT_TRUE(TlsClient(server_->port()).connected());
  EXPECT_NE(said().find("What was read before stays"), std::string::npos);
}

TEST_F(HttpTls, files_that_do_not_fit_are_named) {
  write_certificate(folder_ / "other.pem", folder_ / "other-key.pem");
  options_.private_key = folder_ / "other-key.pem";
  EXPECT_THROW(start(), DataError);
  options_.private_key = "/nowhere/key.pem";
  try {
    start();
    FAIL();
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("/nowhere/key.pem: cannot be used for TLS"), std::string::npos);
  }
  options_.private_key.clear();
  EXPECT_THROW(start(), std::invalid_argument);
}

}  // namespace http_tls_test
}  // namespace goblin::serve

#pragma once
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// The functions that OpenSSL offers only as macros.
static inline int relay_ssl_set_server_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, name);
}

static inline int relay_ssl_context_add_chain(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add0_chain_cert(context, certificate);
}

static inline int relay_ssl_context_require_tls12(SSL_CTX *context) {
    return (int)SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

static inline void relay_ssl_context_refuse_renegotiation(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
}

static inline int relay_ssl_verified_count(const SSL *ssl) {
    const STACK_OF(X509) *chain = SSL_get0_verified_chain(ssl);
    return chain == NULL ? 0 : sk_X509_num(chain);
}

static inline X509 *relay_ssl_verified_certificate(const SSL *ssl, int index) {
    return sk_X509_value(SSL_get0_verified_chain(ssl), index);
}

// Whether the peer has asked for a client's certificate, of a session that notes it.
static inline int relay_note_certificate_request(SSL *ssl, void *context) {
    (void)context;
    return SSL_set_app_data(ssl, (char *)ssl);
}

static inline void relay_ssl_note_certificate_request(SSL *ssl) {
    SSL_set_cert_cb(ssl, relay_note_certificate_request, NULL);
}

static inline int relay_ssl_was_certificate_requested(const SSL *ssl) {
    return SSL_get_app_data(ssl) != NULL;
}

// SHA-256 by the functions that OpenSSL calls old, since they load no providers, which is five million instructions:
// a daemon that has no TLS to speak needs none.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static inline void relay_sha256(const void *bytes, size_t count, unsigned char *digest) {
    SHA256_CTX context;
    SHA256_Init(&context);
    SHA256_Update(&context, bytes, count);
    SHA256_Final(digest, &context);
}
#pragma GCC diagnostic pop

static inline void relay_free(void *memory) { OPENSSL_free(memory); }

static inline void relay_ssl_context_set_mode(SSL_CTX *context) {
    // Writes may be partial and repeated from another buffer; an idle connection keeps no buffers.
    SSL_CTX_set_mode(context,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                         SSL_MODE_RELEASE_BUFFERS);
}

// An encrypted key must fail instead of asking a terminal for its passphrase.
static inline int relay_no_passphrase(char *buffer, int size, int writing, void *context) {
    (void)buffer, (void)size, (void)writing, (void)context;
    return -1;
}

static inline EVP_PKEY *relay_read_private_key(BIO *bio) {
    return PEM_read_bio_PrivateKey(bio, NULL, relay_no_passphrase, NULL);
}

static inline X509 *relay_read_certificate(BIO *bio) {
    return PEM_read_bio_X509(bio, NULL, relay_no_passphrase, NULL);
}

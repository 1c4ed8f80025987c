#ifndef SWITCHBOARD_COPENSSL_H
#define SWITCHBOARD_COPENSSL_H
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <sys/time.h>

// Macros that Swift cannot see: one function each.
static inline int copenssl_add_to_chain(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add1_chain_cert(context, certificate);
}
// A key with a passphrase is refused, where OpenSSL would ask for it on the terminal.
static inline int copenssl_no_passphrase(char *buffer, int size, int writing, void *asked) {
    (void)buffer, (void)size, (void)writing;
    if (asked) *(int *)asked = 1;
    return -1;
}
static inline EVP_PKEY *copenssl_read_key(BIO *source, int *has_passphrase) {
    return PEM_read_bio_PrivateKey(source, NULL, copenssl_no_passphrase, has_passphrase);
}
static inline int copenssl_retry_flags(void) { return BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY; }
static inline int copenssl_retry_read(void) { return BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY; }
static inline int copenssl_source_sink(void) { return BIO_TYPE_SOURCE_SINK; }
static inline int copenssl_configure_tls(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    // Thousands of connections are idle most of the time: their buffers of 16 KB go back in between.
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    return SSL_CTX_set_num_tickets(context, 1) == 1 && SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1;
}
// Why the last call on this thread failed: an error of the system has no name in OpenSSL's tables.
static inline const char *copenssl_reason(void) {
    unsigned long code = ERR_get_error();
    return ERR_SYSTEM_ERROR(code) ? strerror(ERR_GET_REASON(code)) : ERR_reason_error_string(code);
}

// DTLS. No renegotiation and no resumption: a session's memory and work are bounded by its first handshake. The bound for
// certificate lists is also that for every other message of a handshake.
static inline int copenssl_restrict_dtls(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_QUERY_MTU | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET
        | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    return SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION) == 1;
}
static inline void copenssl_set_longest_certificate_list(SSL_CTX *context, long bytes) {
    SSL_CTX_set_max_cert_list(context, bytes);
}
static inline int copenssl_set_mtu(SSL *connection, long bytes) { return SSL_set_mtu(connection, bytes) != 0; }
// Nanoseconds until the next retransmission, -1 when none is due.
static inline long long copenssl_retransmission(SSL *connection) {
    struct timeval left;
    if (DTLSv1_get_timeout(connection, &left) != 1) return -1;
    return left.tv_sec * 1000000000LL + left.tv_usec * 1000LL;
}
// The name that a client asks for (RFC 6066 section 3) and wants to see in the certificate.
static inline int copenssl_ask_for_name(SSL *connection, const char *name) {
    return SSL_set_tlsext_host_name(connection, name) == 1 && SSL_set1_host(connection, name) == 1;
}
static inline int copenssl_retransmit(SSL *connection) { return (int)DTLSv1_handle_timeout(connection); }
static inline void copenssl_nothing_to_read(BIO *bio) { BIO_set_retry_read(bio); }
static inline void copenssl_clear_retry(BIO *bio) { BIO_clear_retry_flags(bio); }
// DTLS for media. The peers are a round trip of some 100 ms apart, where OpenSSL begins with a second; after twelve times
// it gives up.
static inline unsigned int copenssl_media_timer(SSL *connection, unsigned int last) {
    (void)connection;
    if (last == 0) return 200000;
    return last < 1500000 ? 2 * last : 3000000;
}
static inline void copenssl_retransmit_soon(SSL *connection) { DTLS_set_timer_cb(connection, copenssl_media_timer); }
// As an OpenSSL list, the preferred first.
static inline int copenssl_set_groups(SSL_CTX *context, const char *groups) {
    return (int)SSL_CTX_set1_groups_list(context, groups);
}
static inline EVP_PKEY *copenssl_make_p256_key(void) { return EVP_EC_gen("P-256"); }

// Clients that look at what a server shows them. A memory BIO that is empty means "later", not the end.
static inline void copenssl_client_empty_means_later(BIO *bio) { BIO_set_mem_eof_return(bio, -1); }
static inline void copenssl_client_mtu(SSL *connection, long bytes) {
    SSL_set_options(connection, SSL_OP_NO_QUERY_MTU);
    DTLS_set_link_mtu(connection, bytes);
}
static inline int copenssl_client_server_name(SSL *connection, const char *name) {
    return (int)SSL_set_tlsext_host_name(connection, name);
}
static inline unsigned long copenssl_client_pending(BIO *bio) { return BIO_ctrl_pending(bio); }
#endif

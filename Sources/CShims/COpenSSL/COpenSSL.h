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
#include <string.h>

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
// Why the last call on this thread failed: an error of the system has no name in OpenSSL's tables.
static inline const char *copenssl_reason(void) {
    unsigned long code = ERR_get_error();
    return ERR_SYSTEM_ERROR(code) ? strerror(ERR_GET_REASON(code)) : ERR_reason_error_string(code);
}
#endif

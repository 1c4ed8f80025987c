#ifndef SWITCHBOARD_COPENSSL_H
#define SWITCHBOARD_COPENSSL_H
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#endif

#ifndef SWITCHBOARD_CARGON2_H
#define SWITCHBOARD_CARGON2_H
#include <argon2.h>
#endif

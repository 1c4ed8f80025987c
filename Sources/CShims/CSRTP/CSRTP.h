#ifndef SWITCHBOARD_CSRTP_H
#define SWITCHBOARD_CSRTP_H
#include <srtp2/srtp.h>
#endif

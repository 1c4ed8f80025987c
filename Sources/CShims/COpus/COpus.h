#ifndef SWITCHBOARD_COPUS_H
#define SWITCHBOARD_COPUS_H
#include <opus.h>

/* What is variadic does not import. */
static inline int copus_reset(OpusDecoder *decoder) {
    return opus_decoder_ctl(decoder, OPUS_RESET_STATE);
}
static inline int copus_use_dtx(OpusEncoder *encoder, opus_int32 on) {
    return opus_encoder_ctl(encoder, OPUS_SET_DTX(on));
}
static inline int copus_use_fec(OpusEncoder *encoder, opus_int32 on, opus_int32 loss) {
    int status = opus_encoder_ctl(encoder, OPUS_SET_INBAND_FEC(on));
    return status == OPUS_OK ? opus_encoder_ctl(encoder, OPUS_SET_PACKET_LOSS_PERC(loss)) : status;
}
static inline int copus_lookahead(OpusEncoder *encoder, opus_int32 *count) {
    return opus_encoder_ctl(encoder, OPUS_GET_LOOKAHEAD(count));
}
static inline int copus_set_bitrate(OpusEncoder *encoder, opus_int32 bitrate) {
    return opus_encoder_ctl(encoder, OPUS_SET_BITRATE(bitrate));
}
#endif

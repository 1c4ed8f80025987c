/// Offers of encoders and of a browser that this machine does not have, written by hand after what they send. Lines end
/// with LF here; CR LF is what they send.
enum EncoderOffers {
    /// OBS 30.1, by libdatachannel 0.20: the transport's lines are at session level, for both sections, and LS groups
    /// what is to be played in time. It gathers candidates first.
    static let obs30 = """
        v=0
        o=rtc 3877212184 0 IN IP4 127.0.0.1
        s=-
        t=0 0
        a=group:BUNDLE 0 1
        a=group:LS 0 1
        a=msid-semantic:WMS *
        a=setup:actpass
        a=ice-ufrag:nxcM
        a=ice-pwd:ezjAjgSSLLvbRhUA1zc6Se
        a=ice-options:ice2,trickle
        a=fingerprint:sha-256 \(digest)
        m=audio 57249 UDP/TLS/RTP/SAVPF 111
        c=IN IP4 192.0.2.53
        a=mid:0
        a=sendonly
        a=ssrc:3388068600 cname:Yuu1KDxQcc3L5CpY
        a=ssrc:3388068600 msid:XmQSKutZo7zYcEQl XmQSKutZo7zYcEQl-audio
        a=msid:XmQSKutZo7zYcEQl XmQSKutZo7zYcEQl-audio
        a=rtcp-mux
        a=rtpmap:111 opus/48000/2
        a=fmtp:111 minptime=10;maxaveragebitrate=96000;stereo=1;sprop-stereo=1;useinbandfec=1
        a=candidate:1 1 UDP 2122317823 192.0.2.53 57249 typ host
        a=candidate:2 1 UDP 2122187263 2001:db8::53 57249 typ host
        a=end-of-candidates
        m=video 57249 UDP/TLS/RTP/SAVPF 96
        c=IN IP4 192.0.2.53
        a=mid:1
        a=sendonly
        a=ssrc:3388068601 cname:Yuu1KDxQcc3L5CpY
        a=ssrc:3388068601 msid:XmQSKutZo7zYcEQl XmQSKutZo7zYcEQl-video
        a=msid:XmQSKutZo7zYcEQl XmQSKutZo7zYcEQl-video
        a=rtcp-mux
        a=rtpmap:96 H264/90000
        a=rtcp-fb:96 nack
        a=rtcp-fb:96 nack pli
        a=rtcp-fb:96 goog-remb
        a=fmtp:96 profile-level-id=42e01f;packetization-mode=1;level-asymmetry-allowed=1

        """

    /// OBS 31.0, by libdatachannel 0.21: without candidates, since it no longer gathers any before it offers. The
    /// encoder is set to AV1.
    static let obs31 = """
        v=0
        o=rtc 2118464913 0 IN IP4 127.0.0.1
        s=-
        t=0 0
        a=group:BUNDLE 0 1
        a=group:LS 0 1
        a=msid-semantic:WMS *
        a=setup:actpass
        a=ice-ufrag:7Yos
        a=ice-pwd:k3vZ8mPq1RtWcXbNfLhGdS
        a=ice-options:ice2,trickle
        a=fingerprint:sha-256 \(digest)
        m=audio 9 UDP/TLS/RTP/SAVPF 111
        c=IN IP4 0.0.0.0
        a=mid:0
        a=sendonly
        a=ssrc:1203948571 cname:pQ9xVb2LmZ4tRw7K
        a=ssrc:1203948571 msid:hJ5nYc8DsE1gUa3F hJ5nYc8DsE1gUa3F-audio
        a=msid:hJ5nYc8DsE1gUa3F hJ5nYc8DsE1gUa3F-audio
        a=rtcp-mux
        a=rtpmap:111 opus/48000/2
        a=fmtp:111 minptime=10;maxaveragebitrate=96000;stereo=1;sprop-stereo=1;useinbandfec=1
        m=video 9 UDP/TLS/RTP/SAVPF 96
        c=IN IP4 0.0.0.0
        a=mid:1
        a=sendonly
        a=ssrc:1203948572 cname:pQ9xVb2LmZ4tRw7K
        a=ssrc:1203948572 msid:hJ5nYc8DsE1gUa3F hJ5nYc8DsE1gUa3F-video
        a=msid:hJ5nYc8DsE1gUa3F hJ5nYc8DsE1gUa3F-video
        a=rtcp-mux
        a=rtpmap:96 AV1/90000
        a=rtcp-fb:96 nack
        a=rtcp-fb:96 nack pli
        a=rtcp-fb:96 goog-remb

        """

    /// OBS 32.1, by libdatachannel 0.23, with three layers: they are named by rids and not by sources.
    static let obs32 = """
        v=0
        o=rtc 905124476 0 IN IP4 127.0.0.1
        s=-
        t=0 0
        a=group:BUNDLE 0 1
        a=group:LS 0 1
        a=msid-semantic:WMS *
        a=setup:actpass
        a=ice-ufrag:Qm2d
        a=ice-pwd:w8ZkJr5TyVx3NbHcPgLfSa
        a=ice-options:ice2,trickle
        a=fingerprint:sha-256 \(digest)
        m=audio 9 UDP/TLS/RTP/SAVPF 111
        c=IN IP4 0.0.0.0
        a=mid:0
        a=sendonly
        a=ssrc:2745019283 cname:cF6rTg1YhU8jIk3L
        a=ssrc:2745019283 msid:zX4cVb7NmQ2wEr5T zX4cVb7NmQ2wEr5T-audio
        a=msid:zX4cVb7NmQ2wEr5T zX4cVb7NmQ2wEr5T-audio
        a=rtcp-mux
        a=rtpmap:111 opus/48000/2
        a=fmtp:111 minptime=10;maxaveragebitrate=96000;stereo=1;sprop-stereo=1;useinbandfec=1
        m=video 9 UDP/TLS/RTP/SAVPF 96
        c=IN IP4 0.0.0.0
        a=mid:1
        a=sendonly
        a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid
        a=extmap:2 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id
        a=msid:zX4cVb7NmQ2wEr5T zX4cVb7NmQ2wEr5T-video
        a=rtcp-mux
        a=rid:0 send
        a=rid:1 send
        a=rid:2 send
        a=simulcast:send 0;1;2
        a=rtpmap:96 H264/90000
        a=rtcp-fb:96 nack
        a=rtcp-fb:96 nack pli
        a=rtcp-fb:96 goog-remb
        a=fmtp:96 profile-level-id=42e01f;packetization-mode=1;level-asymmetry-allowed=1

        """

    /// FFmpeg 8.1, the muxer `whip`, of a picture of 320 by 240 in `-profile:v baseline`. It has no candidates and no
    /// feedback but NACK, and waits for the handshake.
    static let ffmpeg8 = """
        v=0
        o=FFmpeg 4489045141692799359 2 IN IP4 127.0.0.1
        s=FFmpegPublishSession
        t=0 0
        a=group:BUNDLE 0 1
        a=extmap-allow-mixed
        a=msid-semantic: WMS
        m=audio 9 UDP/TLS/RTP/SAVPF 111
        c=IN IP4 0.0.0.0
        a=ice-ufrag:5a3f09c1
        a=ice-pwd:0f6c2a919d3b71e4c85a07fe2b64d813
        a=fingerprint:sha-256 \(digest)
        a=setup:passive
        a=mid:0
        a=sendonly
        a=msid:FFmpeg audio
        a=rtcp-mux
        a=rtpmap:111 opus/48000/2
        a=ssrc:4153823612 cname:FFmpeg
        a=ssrc:4153823612 msid:FFmpeg audio
        m=video 9 UDP/TLS/RTP/SAVPF 106 105
        c=IN IP4 0.0.0.0
        a=ice-ufrag:5a3f09c1
        a=ice-pwd:0f6c2a919d3b71e4c85a07fe2b64d813
        a=fingerprint:sha-256 \(digest)
        a=setup:passive
        a=mid:1
        a=sendonly
        a=msid:FFmpeg video
        a=rtcp-mux
        a=rtcp-rsize
        a=rtpmap:106 H264/90000
        a=fmtp:106 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42000d
        a=rtcp-fb:106 nack
        a=rtpmap:105 rtx/90000
        a=fmtp:105 apt=106
        a=ssrc-group:FID 4153823613 4153823614
        a=ssrc:4153823613 cname:FFmpeg
        a=ssrc:4153823613 msid:FFmpeg video

        """

    /// Safari 18.6 on macOS 15, which prefers H.264 in high profile to the baseline, and both to VP8.
    static let safari18 = """
        v=0
        o=- 7803573368696156636 2 IN IP4 127.0.0.1
        s=-
        t=0 0
        a=group:BUNDLE 0 1
        a=extmap-allow-mixed
        a=msid-semantic: WMS 5d3b6d04-6039-4cd2-85b8-bac3b9740263
        m=audio 9 UDP/TLS/RTP/SAVPF 111 63 9 0 8 13 110 126
        c=IN IP4 0.0.0.0
        a=rtcp:9 IN IP4 0.0.0.0
        a=ice-ufrag:GaE4
        a=ice-pwd:7jilSelVxM3JIje+WjrX7OtI
        a=ice-options:trickle
        a=fingerprint:sha-256 \(digest)
        a=setup:actpass
        a=mid:0
        a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level
        a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
        a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
        a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid
        a=sendonly
        a=msid:5d3b6d04-6039-4cd2-85b8-bac3b9740263 833dba34-201d-4710-b1ce-8273bf20a245
        a=rtcp-mux
        a=rtcp-rsize
        a=rtpmap:111 opus/48000/2
        a=rtcp-fb:111 transport-cc
        a=fmtp:111 minptime=10;useinbandfec=1
        a=rtpmap:63 red/48000/2
        a=fmtp:63 111/111
        a=rtpmap:9 G722/8000
        a=rtpmap:0 PCMU/8000
        a=rtpmap:8 PCMA/8000
        a=rtpmap:13 CN/8000
        a=rtpmap:110 telephone-event/48000
        a=rtpmap:126 telephone-event/8000
        a=ssrc:1938471625 cname:Ox3fA9kq2LmPzR7t
        a=ssrc:1938471625 msid:5d3b6d04-6039-4cd2-85b8-bac3b9740263 833dba34-201d-4710-b1ce-8273bf20a245
        m=video 9 UDP/TLS/RTP/SAVPF 96 97 98 99 100 101 102 103 104 105 106 107 108 109 127 125 112 113 114
        c=IN IP4 0.0.0.0
        a=rtcp:9 IN IP4 0.0.0.0
        a=ice-ufrag:GaE4
        a=ice-pwd:7jilSelVxM3JIje+WjrX7OtI
        a=ice-options:trickle
        a=fingerprint:sha-256 \(digest)
        a=setup:actpass
        a=mid:1
        a=extmap:14 urn:ietf:params:rtp-hdrext:toffset
        a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
        a=extmap:13 urn:3gpp:video-orientation
        a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
        a=extmap:5 http://www.webrtc.org/experiments/rtp-hdrext/playout-delay
        a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid
        a=extmap:10 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id
        a=extmap:11 urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id
        a=sendonly
        a=msid:5d3b6d04-6039-4cd2-85b8-bac3b9740263 6a0a2d4e-9c3f-4d0c-8f57-1f4a7b5d2c31
        a=rtcp-mux
        a=rtcp-rsize
        a=rtpmap:96 H264/90000
        a=rtcp-fb:96 goog-remb
        a=rtcp-fb:96 transport-cc
        a=rtcp-fb:96 ccm fir
        a=rtcp-fb:96 nack
        a=rtcp-fb:96 nack pli
        a=fmtp:96 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=640c1f
        a=rtpmap:97 rtx/90000
        a=fmtp:97 apt=96
        a=rtpmap:98 H264/90000
        a=rtcp-fb:98 goog-remb
        a=rtcp-fb:98 transport-cc
        a=rtcp-fb:98 ccm fir
        a=rtcp-fb:98 nack
        a=rtcp-fb:98 nack pli
        a=fmtp:98 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f
        a=rtpmap:99 rtx/90000
        a=fmtp:99 apt=98
        a=rtpmap:100 H264/90000
        a=fmtp:100 level-asymmetry-allowed=1;packetization-mode=0;profile-level-id=640c1f
        a=rtpmap:101 rtx/90000
        a=fmtp:101 apt=100
        a=rtpmap:102 H264/90000
        a=fmtp:102 level-asymmetry-allowed=1;packetization-mode=0;profile-level-id=42e01f
        a=rtpmap:103 rtx/90000
        a=fmtp:103 apt=102
        a=rtpmap:104 H265/90000
        a=rtpmap:105 rtx/90000
        a=fmtp:105 apt=104
        a=rtpmap:106 VP8/90000
        a=rtcp-fb:106 goog-remb
        a=rtcp-fb:106 transport-cc
        a=rtcp-fb:106 ccm fir
        a=rtcp-fb:106 nack
        a=rtcp-fb:106 nack pli
        a=rtpmap:107 rtx/90000
        a=fmtp:107 apt=106
        a=rtpmap:108 VP9/90000
        a=rtcp-fb:108 nack
        a=fmtp:108 profile-id=0
        a=rtpmap:109 rtx/90000
        a=fmtp:109 apt=108
        a=rtpmap:127 VP9/90000
        a=fmtp:127 profile-id=2
        a=rtpmap:125 rtx/90000
        a=fmtp:125 apt=127
        a=rtpmap:112 red/90000
        a=rtpmap:113 rtx/90000
        a=fmtp:113 apt=112
        a=rtpmap:114 ulpfec/90000
        a=ssrc-group:FID 2817364509 3746501928
        a=ssrc:2817364509 cname:Ox3fA9kq2LmPzR7t
        a=ssrc:2817364509 msid:5d3b6d04-6039-4cd2-85b8-bac3b9740263 6a0a2d4e-9c3f-4d0c-8f57-1f4a7b5d2c31
        a=ssrc:3746501928 cname:Ox3fA9kq2LmPzR7t
        a=ssrc:3746501928 msid:5d3b6d04-6039-4cd2-85b8-bac3b9740263 6a0a2d4e-9c3f-4d0c-8f57-1f4a7b5d2c31

        """

    /// GStreamer 1.26, `whipclientsink` of gst-plugins-rs 0.14: sections are named by words, all but the first have no
    /// port, and the source of stereo says only `sprop-stereo`.
    static let gstreamer = """
        v=0
        o=- 4093178026581209346 0 IN IP4 0.0.0.0
        s=-
        t=0 0
        a=ice-options:trickle
        a=group:BUNDLE video0 audio1
        m=video 9 UDP/TLS/RTP/SAVPF 96 97 98 99 100
        c=IN IP4 0.0.0.0
        a=setup:actpass
        a=ice-ufrag:kXh3mT9pVb2LqZ7wRn5cYd8fGs1jAe4u
        a=ice-pwd:Zr6tPy3kWm9vBx1nHq8cLf5gDj2sTa7e
        a=rtcp-mux
        a=rtcp-rsize
        a=sendonly
        a=rtpmap:96 VP8/90000
        a=rtcp-fb:96 nack
        a=rtcp-fb:96 nack pli
        a=rtcp-fb:96 ccm fir
        a=rtcp-fb:96 transport-cc
        a=extmap:1 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
        a=rtpmap:97 rtx/90000
        a=fmtp:97 apt=96
        a=rtpmap:98 H264/90000
        a=rtcp-fb:98 nack
        a=rtcp-fb:98 nack pli
        a=fmtp:98 packetization-mode=1;profile-level-id=42c016;level-asymmetry-allowed=1
        a=rtpmap:99 red/90000
        a=rtpmap:100 ulpfec/90000
        a=ssrc:3401928374 msid:user1837465029@host-5f2c9b1e webrtctransceiver0
        a=ssrc:3401928374 cname:user1837465029@host-5f2c9b1e
        a=mid:video0
        a=fingerprint:sha-256 \(digest)
        a=rtcp-mux-only
        a=candidate:1 1 UDP 2015363327 192.0.2.8 41712 typ host
        a=candidate:2 1 TCP 1015021823 192.0.2.8 9 typ host tcptype active
        m=audio 0 UDP/TLS/RTP/SAVPF 101
        c=IN IP4 0.0.0.0
        a=setup:actpass
        a=ice-ufrag:kXh3mT9pVb2LqZ7wRn5cYd8fGs1jAe4u
        a=ice-pwd:Zr6tPy3kWm9vBx1nHq8cLf5gDj2sTa7e
        a=bundle-only
        a=rtcp-mux
        a=rtcp-rsize
        a=sendonly
        a=rtpmap:101 OPUS/48000/2
        a=rtcp-fb:101 transport-cc
        a=fmtp:101 sprop-stereo=1;sprop-maxcapturerate=48000
        a=ssrc:1029384756 msid:user1837465029@host-5f2c9b1e webrtctransceiver1
        a=ssrc:1029384756 cname:user1837465029@host-5f2c9b1e
        a=mid:audio1
        a=fingerprint:sha-256 \(digest)
        a=rtcp-mux-only

        """

    private static let digest = (0..<32).map { _ in "5C" }.joined(separator: ":")
}

// Short names of emoji that people know from other messengers. They are the same in every language; the standard has none.

const LIST = `smile😄 smiley😃 grinning😀 grin😁 laughing😆 sweat_smile😅 joy😂 rofl🤣 blush😊 innocent😇 wink😉 heart_eyes😍 kissing_heart😘
    yum😋 stuck_out_tongue😛 sunglasses😎 partying_face🥳 hugs🤗 thinking🤔 neutral_face😐 smirk😏 unamused😒 roll_eyes🙄 grimacing😬
    relieved😌 sleeping😴 mask😷 cold_sweat😰 cry😢 sob😭 scream😱 open_mouth😮 confused😕 worried😟 disappointed😞 weary😩 tired_face😫
    triumph😤 angry😠 rage😡 skull💀 poop💩 clown🤡 ghost👻 alien👽 robot🤖 see_no_evil🙈 heart❤️ broken_heart💔 sparkling_heart💖
    100💯 boom💥 zzz💤 wave👋 ok_hand👌 v✌️ crossed_fingers🤞 +1👍 thumbsup👍 -1👎 thumbsdown👎 fist✊ punch👊 clap👏
    raised_hands🙌 pray🙏 muscle💪 eyes👀 shrug🤷 facepalm🤦 dog🐶 cat🐱 bug🐛 tada🎉 party🎉 fire🔥 star⭐ sparkles✨ sunny☀️
    rainbow🌈 snowflake❄️ coffee☕ beer🍺 beers🍻 pizza🍕 cake🍰 birthday🎂 gift🎁 balloon🎈 rocket🚀 car🚗 house🏠 phone☎️ bulb💡
    lock🔒 key🔑 warning⚠️ white_check_mark✅ heavy_check_mark✔️ x❌ question❓ exclamation❗`;

/** Emoji by their short names. */
export const codes = new Map(LIST.split(/\s+/).map((one) => /^([\w+-]+)(.+)$/u.exec(one).slice(1)));

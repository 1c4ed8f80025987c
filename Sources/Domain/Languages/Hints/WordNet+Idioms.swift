// Which entries of WordNet are idioms: of its 60,000 with several words nearly all say what their words say.
extension WordNet {
    /// Senses, from 1, by lemma.
    package static func idioms(of part: PartOfSpeech) -> [String: Int] {
        let table =
            switch part {
            case .noun: nouns
            case .verb: verbs
            case .adjective: adjectives
            case .adverb: adverbs
            }
        return table.split { $0 == " " || $0 == "\n" }.reduce(into: [:]) { senses, entry in
            let parts = entry.split(separator: "#")
            senses[String(parts[0])] = parts.count > 1 ? Int(parts[1]) ?? 1 : 1
        }
    }

    /// The first words of verbs, whose forms are looked for.
    package static var firstVerbs: Set<String> {
        Set(idioms(of: .verb).keys.compactMap { $0.split { $0 == "_" || $0 == "-" }.first.map(String.init) })
    }

    private static let verbs = """
        ask_for_it ask_for_trouble be_on_the_ball beat_a_retreat beat_around_the_bush bell_the_cat bend_over_backwards
        blow_a_fuse blow_one's_stack blow_out_of_the_water break_one's_back break_someone's_heart bring_home_the_bacon
        bring_to_bear buy_the_farm buy_time call_it_a_day call_it_quits call_on_the_carpet call_one's_bluff
        call_the_shots call_the_tune carry-the_can cash_in_one's_chips catch_some_z's chew_the_fat chuck_up_the_sponge
        clear_the_air come_out_of_the_closet come_to_grips come_to_the_fore cool_one's_heels curry_favor curry_favour
        cut_corners cut_to_ribbons deliver_the_goods dish_the_dirt do_a_job_on drag_one's_feet drag_one's_heels
        drag_through_the_mud draw_a_blank draw_the_line drop_a_line drop_by_the_wayside drop_like_flies drop_the_ball
        explode_a_bombshell face_the_music fall_by_the_wayside fall_flat fall_from_grace fall_over_backwards
        feather_one's_nest feel_like_a_million feel_like_a_million_dollars fill_the_bill fit_the_bill flip_one's_lid
        flip_one's_wig fly_in_the_face_of fly_in_the_teeth_of fly_off_the_handle fly_the_coop foam_at_the_mouth
        follow_suit froth_at_the_mouth get_cracking get_off_the_ground get_one's_lumps get_the_goods get_the_hang
        get_the_jump get_the_picture get_to_grips get_under_one's_skin gild_the_lily give-up_the_ghost give_a_damn
        give_a_hang give_a_hoot give_it_a_whirl give_it_the_deep_six give_the_axe give_the_bounce give_the_gate
        give_the_glad_eye give_the_once_over give_the_sack go_all_out go_ballistic go_dutch go_for_broke
        go_off_at_half-cock go_off_half-cocked go_through_the_motions go_to_pieces go_to_pot go_to_the_dogs
        grease_one's_palms grind_to_a_halt ham_it_up handle_with_kid_gloves hang_by_a_hair hang_by_a_thread
        have_a_ball have_a_bun_in_the_oven have_a_fit have_it_coming have_kittens head_for_the_hills hightail_it
        hit_the_books hit_the_ceiling hit_the_hay hit_the_jackpot hit_the_roof hit_the_sack hold_one's_own hold_water
        hoof_it jump_for_joy keep_an_eye_on keep_mum keep_one's_eyes_peeled keep_one's_eyes_skinned
        keep_one's_mouth_shut keep_one's_nose_to_the_grindstone keep_one's_shoulder_to_the_wheel keep_tabs_on
        kick_one's_heels kick_the_bucket kick_upstairs know_the_score know_what's_what lay_on_the_line
        lead_by_the_nose leave_no_stone_unturned let_the_cat_out_of_the_bag line_one's_pockets live_it_up lord_it_over
        make_a_clean_breast_of make_a_stink make_hay make_no_bones_about paint_the_lily pass_with_flying_colors
        pick_up_the_gauntlet play_hooky play_it_by_ear play_possum pop_the_question pour_cold_water_on
        pull_a_fast_one_on pull_in_one's_horns pull_one's_weight pull_out_all_the_stops pull_someone's_leg
        pull_strings pull_the_plug pull_the_wool_over_someone's_eyes pull_up_stakes put_behind_bars put_on_airs
        put_on_the_line put_one_over put_out_feelers rain_buckets rain_cats_and_dogs raise_a_stink raise_hell
        raise_the_roof read_between_the_lines ride_roughshod roll_in_the_hay run_roughshod saw_logs see_eye_to_eye
        see_red see_the_light shed_light_on shoot_one's_mouth_off shoot_the_breeze show_the_door sit_tight skip_town
        slip_one's_mind snuff_it sow_one's_oats sow_one's_wild_oats speak_of_the_devil spend_a_penny spill_the_beans
        stand_pat step_on_it strike_a_chord sweep_under_the_rug take_a_dive take_a_leak take_a_powder take_five
        take_for_granted take_it_on_the_chin take_lying_down take_one's_lumps take_the_bull_by_the_horns take_the_cake
        take_the_fifth take_time_by_the_forelock take_to_task take_to_the_woods talk_shop talk_through_one's_hat
        talk_turkey throw_a_fit throw_cold_water_on throw_in_the_towel throw_out_of_kilter tickle_pink
        tighten_one's_belt toe_the_line touch_base trip_the_light_fantastic turn_a_blind_eye turn_one's_stomach
        turn_tail turn_the_tables turn_the_tide turn_turtle turn_up_the_heat walk_on_air warm_the_bench
        wash_one's_hands wear_the_trousers whoop_it_up wine_and_dine
        """

    private static let nouns = """
        achilles'_heel acid_test back_burner bad_egg baker's_dozen big_cheese big_shot black_sheep bone_of_contention
        busman's_holiday can_of_worms castle_in_the_air child's_play clean_slate close_call close_shave cloud_nine
        cock-and-bull_story cold_feet cold_shoulder couch_potato crocodile_tears dark_horse dead_duck dead_ringer
        devil's_advocate dog's_breakfast eager_beaver elbow_grease fall_guy fat_chance fly_in_the_ointment
        food_for_thought foregone_conclusion freudian_slip golden_handshake gravy_train greasy_spoon green_thumb
        hair_of_the_dog hobson's_choice hot_potato house_of_cards jack_of_all_trades kettle_of_fish kiss_of_death
        labor_of_love lame_duck lap_of_luxury lip_service long_shot loose_cannon midas_touch month_of_sundays
        monkey_business mumbo_jumbo nest_egg night_owl odds_and_ends pain_in_the_ass pain_in_the_neck peeping_tom
        pet_peeve pipe_dream piece_of_cake poker_face pyrrhic_victory rat_race raw_deal red-letter_day red_herring
        red_tape sacred_cow second_fiddle short_shrift silver_lining sitting_duck sixth_sense skeleton_in_the_closet
        skeleton_in_the_cupboard smart_aleck smoking_gun snake_in_the_grass soft_spot sour_grapes spitting_image
        spring_chicken square_one stone's_throw straight_arrow stuffed_shirt swan_song sword_of_damocles tall_order
        tall_tale ugly_duckling upper_hand vicious_circle wet_blanket white_elephant white_lie whole_kit_and_caboodle
        whole_shebang wild-goose_chase wild_card wishful_thinking
        """

    private static let adjectives = """
        around_the_bend at_loggerheads below_the_belt bright_as_a_new_penny browned_off carved_in_stone cheesed_off
        deaf_as_a_post down_in_the_mouth dressed_to_kill dressed_to_the_nines gung_ho hard_up hot_and_bothered
        hot_under_the_collar ill_at_ease in_one's_birthday_suit in_the_buff in_your_birthday_suit naked_as_a_jaybird
        neck_and_neck off_the_beaten_track off_the_hook on_the_fence out_of_the_question out_of_whack pissed_off
        round_the_bend set_in_stone short_and_sweet smart_as_a_whip too_big_for_one's_breeches tried_and_true
        under_the_weather under_wraps up_in_the_air wide_of_the_mark
        """

    private static let adverbs = """
        across_the_board as_luck_would_have_it as_the_crow_flies at_first_blush by_a_long_shot by_and_large
        by_fits_and_starts by_hook_or_by_crook cheek_by_jowl come_hell_or_high_water every_which_way for_a_song
        for_keeps for_love_or_money forever_and_a_day from_pillar_to_post from_scratch hand_in_glove hand_over_fist
        hand_to_mouth hands_down head_over_heels hook_line_and_sinker in_a_flash in_a_nutshell in_a_pig's_eye
        in_cold_blood in_spades in_the_long_run in_the_lurch in_the_nick_of_time lickety_split like_a_shot
        like_clockwork off_the_cuff on_the_fly on_the_q.t. on_the_sly on_the_spur_of_the_moment out_of_the_blue
        out_of_thin_air so_to_speak sure_as_shooting to_a_t to_the_hilt tooth_and_nail
        """
}

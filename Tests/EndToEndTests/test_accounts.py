"""Signing up, in and out, and staying signed in."""

import fractions

import av
import numpy
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select
from switchboard_tests.browsers.pages import PASSWORD, Person


def test_sign_up_sign_out_sign_in(browsers, url):
    ann = Person(browsers[0], url, "Ann Abel").sign_up_by_form()
    ann.go("settings")
    ann.click("[data-action=sign-out]")
    ann.find("#sign-in-form")
    ann.sign_in("not the password")
    ann.says(".form-error", "wrong")
    ann.sign_in()
    ann.is_in()


def test_a_reload_keeps_the_sign_in(ann):
    ann.driver.refresh()
    ann.is_in()


def test_an_account_is_made_once(ann, url):
    ann.go("settings")
    ann.click("[data-action=sign-out]")
    ann.click("#to-sign-up")
    ann.fill(displayName="Another", email=ann.email, password=PASSWORD)
    ann.click("#sign-up-form [type=submit]")
    ann.says(".form-error", "already an account")


def test_a_short_password_is_reported_before_it_is_sent(ann):
    ann.go("settings")
    ann.click("[data-action=sign-out]")
    ann.click("#to-sign-up")
    ann.fill(displayName="Short", email="short@example.org", password="abc")
    ann.click("#sign-up-form [type=submit]")
    ann.says(".form-error", "at least 8 characters")


def test_the_profile_is_seen_by_others(people):
    ann, ben = people
    ann.go("settings")
    ann.fill(displayName="Ann Other")
    ann.click("#profile-form [type=submit]")
    ann.says(".toast", "Profile saved")
    ann.click("#setting-languages option[value=ar]")
    ann.says(".language-chips", "Arabic")
    ann.gone("#setting-languages option[value=ar]")
    ann.name = "Ann Other"
    ben.search_for(ann)
    ben.click("#people [data-action=person]")
    ben.says("#person", "Arabic")


def test_a_photo_is_scaled_sent_and_seen_by_others(people, tmp_path):
    ann, ben = people
    file = tmp_path / "photo.png"
    encoder = av.CodecContext.create("png", "w")
    encoder.width, encoder.height, encoder.pix_fmt, encoder.time_base = 3000, 2000, "rgb24", fractions.Fraction(1, 25)
    picture = numpy.random.default_rng(7).integers(0, 255, (2000, 3000, 3), numpy.uint8)
    frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
    file.write_bytes(b"".join(bytes(packet) for part in (frame, None) for packet in encoder.encode(part)))
    ann.go("settings")
    assert not ann.all("#photo img")
    ann.driver.find_element(By.ID, "photo-file").send_keys(str(file))
    ann.says(".toast", "Photo saved")
    width = "return document.querySelector(arguments[0])?.naturalWidth"
    ann.browser.wait("one's own photo", lambda: ann.driver.execute_script(width, "#photo img") in (384, 768))
    ann.find(".me img")
    ben.search_for(ann)
    ben.browser.wait("her photo", lambda: ben.driver.execute_script(width, "#people .avatar img") in (384, 768))
    # A file that is not a picture is rejected, and changes nothing.
    file.write_text("These are words.")
    ann.driver.find_element(By.ID, "photo-file").send_keys(str(file))
    ann.says(".toast.error", "not a picture")
    ann.click("[data-action=remove-photo]")
    ann.says(".toast", "Photo removed")
    assert not ann.all("#photo img")


def meet(ann: Person, ben: Person) -> None:
    """Ann writes to Ben, who accepts."""
    ann.go("chats")
    ann.click("[data-action=new-chat]")
    ann.pick([ben])
    ann.click("#picker [data-choice=start]")
    ann.find("#write")
    ben.go("chats")
    ben.click("#inbox [data-action=accept]")
    ben.gone("#inbox [data-action=accept]")
    ben.go("people")


def test_privacy(people, pictures):
    ann, _ben = people
    ann.go("settings")
    for name, value in (("lastSeen", "friends"), ("messageRequests", "refuse"), ("reach", "exact")):
        Select(ann.find(f"#setting-{name}")).select_by_value(value)
    ann.click("#receipts")
    pictures(ann.browser, "privacy")
    ann.browser.wait("the settings to be kept", lambda: ann.driver.execute_script(
        "return [...document.querySelectorAll('select[name]:not([name=language])')].every((one) => one.value)"))
    ann.driver.refresh()
    ann.go("settings")
    kept = [ann.find(f"#setting-{name}").get_attribute("value") for name in ("lastSeen", "messageRequests", "reach")]
    assert kept == ["friends", "refuse", "exact"]
    ann.find("[data-action=make-contact-link]")


def test_presence(people):
    ann, ben = people
    meet(ann, ben)
    ben.search_for(ann)
    ben.says("#people .state", "Online")
    ann.driver.get("about:blank")
    ben.browser.wait(
        "the dot to go", lambda: not [one for one in ben.all("#people .state") if one.text == "Online"], 20
    )
    ben.says("#people .state", "Last seen")


def test_password_change_signs_other_devices_out(browsers, people):
    ann, _ben = people
    # Ann also signs in in Ben's browser.
    other = Person(browsers[1], ann.url, ann.name)
    other.email = ann.email
    other.browser.open(other.url)
    other.sign_in()
    other.is_in()
    ann.go("settings")
    ann.fill(currentPassword=PASSWORD, newPassword=PASSWORD + "!")
    ann.click("#password-form [type=submit]")
    ann.says(".toast", "Password changed")
    other.find("#sign-in-form")
    other.sign_in(PASSWORD)
    other.says(".form-error", "wrong")
    other.sign_in(PASSWORD + "!")
    other.is_in()
    ann.is_online()


def test_a_deleted_account_is_signed_out_and_gone(people):
    ann, ben = people
    ann.call(ben, "audio")
    ben.rings()
    ann.hang_up()
    ann.leave_call_screen()
    ann.go("settings")
    ann.click("[data-action=delete-account]")
    ann.says("#deletion", "Nobody can bring the account back")
    ann.fill(password="not the password")
    ann.click("[data-action=confirm-deletion]")
    ann.says("#deletion .form-error", "not your password")
    ann.fill(password=PASSWORD)
    ann.click("[data-action=confirm-deletion]")
    ann.find("#sign-in-form")
    ann.sign_in()
    ann.says(".form-error", "wrong")
    ben.driver.refresh()
    ben.go("history")
    ben.says("#history", "Deleted user")
    assert not ben.all("[data-action=call-again]")


def test_a_revoked_device_is_signed_out(browsers, people):
    ann, _ben = people
    other = Person(browsers[1], ann.url, ann.name)
    other.email = ann.email
    other.browser.open(other.url)
    other.sign_in()
    other.is_in()
    ann.go("settings")
    ann.says("#devices [data-current=true]", "Switchboard-Web")
    ann.click("#devices [data-current=false] [data-action=revoke-device]")
    ann.click("#ask [data-choice]")
    other.find("#sign-in-form")
    other.says(".toast", "signed out")
    ann.is_online()

"""Whose a submission is, the platform's part of a download says: nobody hands in for others."""

import pytest
from submitted_files import NAME, a_notebook, by_student, collected, moodle, packed, put

from course_grader.errors import NothingToCollectError
from course_grader.lms import records
from course_grader.lms.collect import Action, collect
from course_grader.lms.owners import as_folder


class TestPlatforms:
    def test_canvas_names_give_student_number_and_late_mark(self, course, inbox):
        content = a_notebook("canvas")
        archive = packed(
            (f"lovelace_ada_1234_5678_{NAME}.ipynb", content),
            (f"hopper_grace_LATE_1235_5679_{NAME}-1.ipynb", content),
        )
        found = by_student(collect(course, NAME, [put(inbox / "submissions.zip", archive)]))
        assert set(found) == {"lovelace_ada_1234", "hopper_grace_1235"}
        assert "late" in " ".join(found["hopper_grace_1235"].notes)
        known = records.read(course, NAME)["hopper_grace_1235"]
        assert (known.platform, known.number, known.late) == ("canvas", "1235", True)

    def test_moodle_folders_give_the_full_name_and_the_number(self, course, inbox):
        archive = packed(
            (f"Ada Lovelace_12345_assignsubmission_file_/{NAME}.ipynb", a_notebook("ada")),
            (f"Zoë Müller_12346_assignsubmission_file_/x/{NAME}.ipynb", a_notebook("zoë")),
        )
        found = by_student(collect(course, NAME, [put(inbox / "moodle.zip", archive)]))
        assert set(found) == {"Ada_Lovelace", "Zoë_Müller"}
        assert records.read(course, NAME)["Ada_Lovelace"].number == "12345"
        assert collected(course, "Zoë_Müller") == a_notebook("zoë")

    def test_two_people_of_one_name_are_told_apart(self, course, inbox):
        archive = packed(
            *(
                (f"Kim Lee_{number}_assignsubmission_file_/{NAME}.ipynb", a_notebook(number))
                for number in ("1", "2")
            )
        )
        found = by_student(collect(course, NAME, [put(inbox / "moodle.zip", archive)]))
        assert set(found) == {"Kim_Lee_1", "Kim_Lee_2"}
        assert collected(course, "Kim_Lee_2") == a_notebook("2")

    def test_names_that_would_share_a_folder_are_refused_not_merged(self, course, inbox):
        put(inbox / "a b" / f"{NAME}.ipynb", a_notebook("one"))
        put(inbox / "a_b" / f"{NAME}.ipynb", a_notebook("other"))
        assert {one.action for one in collect(course, NAME, [inbox])} == {Action.REFUSED}
        assert not (course.submitted / "a_b").exists()


class TestWho:
    """Whose a submission is, the platform's part of a download says, and nothing below it."""

    def test_moodle_student_cannot_hand_in_for_others(self, course, inbox):
        class_of_two = [
            (f"{moodle(name, number)}/{NAME}.ipynb", a_notebook(name))
            for name, number in (("Ada", "1"), ("Ben", "2"))
        ]
        collect(course, NAME, [put(inbox / "class.zip", packed(*class_of_two))])
        evil = [(f"{moodle('Eve', '3')}/{path}", a_notebook("evil")) for path, _ in class_of_two]
        (one,) = collect(course, NAME, [put(inbox / "eve.zip", packed(*evil))])
        assert one.student == "Eve"
        assert collected(course, "Ada") == a_notebook("Ada")
        assert collected(course, "Ben") == a_notebook("Ben")

    @pytest.mark.parametrize("form", ["folder", "zip"])
    def test_only_student_of_a_folder_cannot_hand_in_for_others(self, course, inbox, form):
        paths = [f"eve/{name}/{NAME}.ipynb" for name in ("ada", "ben")]
        source = inbox
        if form == "zip":
            source = put(inbox / "x.zip", packed(*((path, a_notebook(path)) for path in paths)))
        else:
            for path in paths:
                put(inbox / path, a_notebook(path))
        (one,) = collect(course, NAME, [source])
        assert (one.student, one.action) == ("eve", Action.REFUSED)
        assert "taken for one student" in " ".join(one.notes)
        assert not course.submitted.exists()

    def test_archive_inside_a_submission_names_nobody(self, course, inbox):
        inner = packed(
            *((f"{moodle(name, 1)}/{NAME}.ipynb", a_notebook("evil")) for name in ("Ada", "Ben"))
        )
        put(inbox / moodle("Eve", "3") / "submissions.zip", inner)
        put(inbox / moodle("Ada", "1") / f"{NAME}.ipynb", a_notebook("ada"))
        assert set(by_student(collect(course, NAME, [inbox]))) == {"Ada", "Eve"}
        assert collected(course, "Ada") == a_notebook("ada")

    def test_moodle_file_cannot_be_named_as_another_students(self, course, inbox):
        archive = packed(
            (f"{moodle('Eve', 66)}Ada_55_assignsubmission_file_{NAME}.ipynb", a_notebook("eve")),
            (f"{moodle('Ben', 67)}{NAME}.ipynb", a_notebook("ben")),
        )
        found = by_student(collect(course, NAME, [put(inbox / "flat.zip", archive)]))
        assert set(found) == {"Ben", "Eve"}
        assert records.read(course, NAME)["Eve"].number == "66"

    @pytest.mark.parametrize(
        "name",
        [
            # the student is user 6666, and calls herself so
            f"lovelaceada_1111_6666_777_{NAME}.ipynb",
            f"lovelaceada_1111_1__6666_777_{NAME}.ipynb",
            # the student is user 6666, and calls the file so
            f"eve_6666_777_lovelaceada_1111_888_{NAME}.ipynb",
        ],
    )
    def test_canvas_name_that_can_be_read_in_two_ways_is_nobodys(self, course, inbox, name):
        archive = packed((name, a_notebook("?")), (f"ben_3_4_{NAME}.ipynb", a_notebook("ben")))
        found = by_student(collect(course, NAME, [put(inbox / "canvas.zip", archive)]))
        assert found.pop("ben_3").action is Action.NEW
        ((_, one),) = found.items()
        assert one.action is Action.REFUSED
        assert "user 6666" in one.notes[0]
        assert [path.name for path in course.submitted.glob("[!.]*")] == ["ben_3"]

    @pytest.mark.parametrize("name", ["निशा", "นภา", "李明", "müllerzoë"])
    def test_names_of_all_scripts_are_read_and_kept(self, course, inbox, name):
        archive = packed((f"{name}_1_2_{NAME}.ipynb", a_notebook("mine")))
        (one,) = collect(course, NAME, [put(inbox / "canvas.zip", archive)])
        assert (one.student, one.action) == (f"{name}_1", Action.NEW)
        assert as_folder(name) == name

    @pytest.mark.parametrize("own", [f"01_{NAME}.ipynb", f"hw-2_3_{NAME}.ipynb"])
    def test_canvas_name_that_can_be_read_in_one_way_is_taken(self, course, inbox, own):
        source = put(inbox / "canvas.zip", packed((f"ada_1_2_{own}", a_notebook("ada"))))
        (one,) = collect(course, NAME, [source])
        assert (one.student, one.notes) == ("ada_1", (f"renamed from {own}",))

    def test_mixture_is_said_and_nothing_is_taken(self, course, inbox):
        put(inbox / moodle("Ada", 1) / f"{NAME}.ipynb", a_notebook("ada"))
        put(inbox / "ben" / f"{NAME}.ipynb", a_notebook("ben"))
        with pytest.raises(NothingToCollectError, match=r"mixture.*folder of its own"):
            collect(course, NAME, [inbox])
        assert not course.submitted.exists()

    def test_what_does_not_fit_a_platforms_download_is_refused_alone(self, course, inbox):
        for number, name in enumerate(("Ada", "Ben"), 1):
            put(inbox / moodle(name, number) / f"{NAME}.ipynb", a_notebook(name))
        put(inbox / "Worksheet.csv", b"Identifier,Grade")
        put(inbox / "Cem" / f"{NAME}.ipynb", a_notebook("cem"))
        found = by_student(collect(course, NAME, [inbox]))
        assert {name for name, one in found.items() if one.action is Action.NEW} == {"Ada", "Ben"}
        assert "not named as the rest" in found["Cem"].notes[0]
        assert "not named as the rest" in found["Worksheet.csv"].notes[0]

    def test_display_name_of_another_student_takes_no_folder(self, course, inbox):
        first = packed((f"{moodle('Ada', 1)}/{NAME}.ipynb", a_notebook("ada")))
        later = packed((f"{moodle('Ada', 666)}/{NAME}.ipynb", a_notebook("eve")))
        collect(course, NAME, [put(inbox / "a.zip", first)])
        (one,) = collect(course, NAME, [put(inbox / "b.zip", later)])
        assert (one.student, one.action) == ("Ada_666", Action.NEW)
        assert collected(course, "Ada") == a_notebook("ada")

    def test_student_who_changed_the_name_keeps_the_folder(self, course, inbox):
        first = packed((f"{moodle('Ada Byron', 1)}/{NAME}.ipynb", a_notebook("early")))
        later = packed((f"{moodle('Ada King', 1)}/{NAME}.ipynb", a_notebook("late")))
        collect(course, NAME, [put(inbox / "a.zip", first)])
        (one,) = collect(course, NAME, [put(inbox / "b.zip", later)])
        assert (one.student, one.action) == ("Ada_Byron", Action.REPLACED)

    @pytest.mark.parametrize(
        "names",
        [
            ("Kim Lee", "Kim Lee", "Kim Lee 1", "Kim Lee 2"),
            ("kim lee", "Kim Lee", "KIM LEE"),
            ("Zo\N{LATIN SMALL LETTER E WITH DIAERESIS}", "Zoe\N{COMBINING DIAERESIS}", "Zoe"),
            ("x" * 120, "x" * 121),
            (NAME, "04-bigram", "..", "."),
        ],
    )
    def test_students_never_share_a_folder(self, course, inbox, names):
        archive = packed(
            *(
                (f"{moodle(name, number)}/{NAME}.ipynb", a_notebook(str(number)))
                for number, name in enumerate(names, 1)
            )
        )
        source = put(inbox / "moodle.zip", archive)
        for action in (Action.NEW, Action.UNCHANGED):
            found = collect(course, NAME, [source])
            assert {one.action for one in found} == {action}
            known = records.read(course, NAME)
            assert len({one.student.casefold() for one in found}) == len(names)
            for one in found:
                assert collected(course, one.student) == a_notebook(known[one.student].number)
        assert not {one.student for one in found} & set(course.assignments)

    def test_person_who_names_a_folder_after_a_student_means_that_student(self, course, inbox):
        first = packed((f"{moodle('Ada', 1)}/{NAME}.ipynb", a_notebook("early")))
        collect(course, NAME, [put(inbox / "a.zip", first)])
        put(inbox / "mail" / "Ada" / f"{NAME}.ipynb", a_notebook("late"))
        (one,) = collect(course, NAME, [inbox / "mail"])
        assert (one.student, one.action) == ("Ada", Action.REPLACED)
        assert records.read(course, NAME)["Ada"].number == "1"

"""The course: lessons as data, the checker of their exercises, and the learner's progress. Nothing here draws screens.

model                   what a lesson is
    lesson              Course > Lesson > Exercise > Check
    load                reads a course from its folder; `header` reads the header of a lesson
    predictions         the right answers to questions about the next step
    answers             whether an answer says the same as the right one
    messages            the lessons that explain an error message
    findings            the lesson about a finding, or about an error: reads headers alone
    variations          small tasks on the idea of a lesson, made from a seed
    timing              the minutes that a lesson takes
    notebook            a lesson as a notebook;  template: the files of a new lesson
    solution_pieces     a solution piece by piece
    fault_names         the faults that a wrong engine can have
checking                what a learner's file does
    verdict             compares a learner's file with the solution
    expected            what a file is compared with: the solution, and the known wrong answers
    observe             runs files in a child process (`checking_process`, `observe_child`) and collects their results
    warm_checker        checks one file again and again, with a process that waits for it
    in_pytorch          runs a solved exercise with PyTorch in the engine's place
    no_subprocesses     forbids a learner's file to start other processes
    plain_data          results as plain data, which can be compared and put into words
    verdict_report      a verdict in words; `error_remarks` explains errors
    grade_class         checks the files of a class; `class_report` sums them up
    record              records a lesson's program, or one check of a learner's file (by `recorded_check`)
    wrong_engines       the real engine with one fault
    compare_recordings  the first step at which two recordings differ
    divergence          the first step at which a learner's file differs from the solution
proving                 whether a lesson is correct
    proofs              what is proven of every lesson; `evidence` gathers the facts
    mutants             small mistakes made in a solution, which the checks must catch
    prose_child         the child process that runs the Python in a lesson's text
    tasks               proves that the variations of a lesson are tasks
    vocabulary          proves that no lesson uses what a later one introduces
learner                 the learner's own data
    workspace           the learner's files
    progress            the solved lessons; `locking` lets one session at a time change them
    reviews             when a task comes back;  review_queue: which one is next
course                  the lessons that come with microtape
"""

from typing import TYPE_CHECKING

from microtape.basics.later import imported_later

if TYPE_CHECKING:
    from lessons.checking.verdict import Verdict, check
    from lessons.learner.progress import Progress
    from lessons.learner.workspace import Workspace
    from lessons.model.header import LessonError
    from lessons.model.lesson import Check, Course, Exercise, Lesson, Prediction, RightAnswer, WrongAnswer
    from lessons.model.load import COURSE, load_course

__all__ = [
    "COURSE",
    "Check",
    "Course",
    "Exercise",
    "Lesson",
    "LessonError",
    "Prediction",
    "Progress",
    "RightAnswer",
    "Verdict",
    "Workspace",
    "WrongAnswer",
    "check",
    "load_course",
]

# A diagnosis only wants to know which lesson explains a finding.
__getattr__, __dir__ = imported_later(
    __name__,
    {
        **dict.fromkeys(("Verdict", "check"), "checking.verdict"),
        "Progress": "learner.progress",
        "Workspace": "learner.workspace",
        "LessonError": "model.header",
        **dict.fromkeys(
            ("Check", "Course", "Exercise", "Lesson", "Prediction", "RightAnswer", "WrongAnswer"), "model.lesson"
        ),
        **dict.fromkeys(("COURSE", "load_course"), "model.load"),
    },
)

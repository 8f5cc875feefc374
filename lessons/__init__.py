"""The course: lessons as data, the checker of their exercises, and a learner's progress. Nothing here draws a screen.

model      Course > Lesson > Exercise > Check
load       reads a course from its folder; `header` the beginning of its lessons
predict    questions to answer before a step is shown
observe    runs a file in a process of its own and reports what it did; `child` is that process
alone      forbids a file that is tried to start other processes
plain      what it did, as plain data: told apart, and put into words
checker    compares what a learner's file does with what the solution does
report     a verdict in words; `remarks` what an error means
workspace  the learner's files
pieces     a solution piece by piece
progress   what has been solved
record     recordings of a lesson's program and of a learner's file, made quietly
faults     wrong engines: the real one with one fault
find       where a recording goes wrong; `where` a learner's
mutants    small mistakes made in a solution, which its checker has to catch
proofs     what is proven of every lesson; `evidence` what they look at, `blocks` runs the Python of its text,
           `later` that no lesson uses what a later one introduces
grade      the files of a class
"""

from lessons.checking.checker import Verdict, check
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

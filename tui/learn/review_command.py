"""`microtape learn review`: the review in full screen; without a terminal, a task at a time."""

from __future__ import annotations

from lessons.checking.record import record_task
from lessons.checking.verdict_report import Said
from lessons.learner.review_queue import TaskName, due_tasks, task_to_practise
from tui.learn.lesson_commands import CommandContext, tell
from tui.learn.questions import asked
from tui.learn.review import nothing_to_review
from tui.shell.exits import Exit
from tui.shell.printing import put
from tui.shell.terminal import has_terminal
from tui.time.cursor import StepCursor

TELL = "tell"  # instead of an answer: tells it


def review(context: CommandContext, words: list[str]) -> int:
    """Ask what was missed, or for a task of a lesson; `LESSON/TASK ANSWER` answers.

    Raises:
        LookupError: there is no such lesson or task.
    """
    lesson, slash, name = (words or [""])[0].partition("/")
    if slash:
        task = TaskName(context.course.find(lesson), name)
        return _judge(context, task, " ".join(words[1:])) if words[1:] else _print(context, task)
    practised = context.course.find(" ".join(words)) if words else None
    if has_terminal():
        return context.open(practised, "practise" if practised is not None else "review")
    if practised is not None:
        return _print(context, task_to_practise(practised, context.workspace.progress))
    due = due_tasks(context.course, context.workspace.progress)
    if not due:
        context.print(nothing_to_review(context.course, context.workspace))
        context.print(f"{context.command('review', 'NAME')}  is a small task on the idea of a lesson")
        return Exit.OK
    if len(due) > 1:
        context.print(f"{len(due)} tasks to review")
    return _print(context, due[0])


def _print(context: CommandContext, name: TaskName) -> int:
    task = name.make(context.workspace.progress)
    context.print(f"lesson {task.lesson.number}: {task.lesson.title}\n")
    put(task.program)
    done = task.prediction.after
    context.print(f"After {done} {'step' if done == 1 else 'steps'} of backward:" if done else "Before backward runs:")
    tell(context, [Said(task.prediction.ask.replace("`", ""))])
    put(f"\n{context.command('review', task.key, 'ANSWER')}  answers; `{TELL}` for an answer tells it")
    return Exit.OK


def _judge(context: CommandContext, name: TaskName, answer: str) -> int:
    """Judge an answer. A wrong one costs nothing, and gets a hint; the numbers stay until the right one is known."""
    task, progress = name.make(context.workspace.progress), context.workspace.progress
    prediction, recording = task.prediction, record_task(task)
    cursor = StepCursor.after(recording, prediction.after, prediction.pass_number - 1)
    question = asked(prediction, cursor, ascii=context.ascii)
    right = question.accepts(answer)
    if not right and answer != TELL:
        tell(context, [Said(f"Not quite. {question.hint_after(answer)}".replace("`", ""))])
        return Exit.NOT_SOLVED
    said = "Right" if right else "It is"
    tell(context, [Said(f"{said}: {question.right}. {question.because}".replace("`", ""))])
    progress.reviewed(task.lesson.name, task.name, right=right)
    return Exit.OK if right else Exit.NOT_SOLVED

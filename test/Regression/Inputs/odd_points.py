"""Writes files of measurements to argv[2], each with one thing wrong: the first
row of the file argv[1] with another value, a byte that is no text, a column
twice, other separators, a comma for a point, words for yes and no."""
import csv
import os
import sys

with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, row = next(rows := csv.reader(file)), next(rows)


def write(name, header, row):
    path = os.path.join(sys.argv[2], name)
    with open(path, "w", newline="", encoding="latin-1") as file:
        csv.writer(file).writerows([header, row])


def changed(column, value):
    return [value if h == column else v for h, v in zip(header, row)]


write("nan.csv", header, changed("value", "nan"))
write("heads.csv", header, changed("heads", "-1"))
write("bytes.csv", header, changed("model", "\xff"))
write("twice.csv", header + ["id"], row + ["x"])
write("comma.csv", header, changed("value", "2115,5"))
write("maybe.csv", header, changed("sequence_parallel", "maybe"))
write("endless.csv", header, changed("value", "1e308"))
for name, separator, end in (("semicolons", ";", "\n"), ("old", ",", "\r"), ("usual", ",", "\n")):
    with open(os.path.join(sys.argv[2], name + ".csv"), "w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=separator, lineterminator=end).writerows([header, row])

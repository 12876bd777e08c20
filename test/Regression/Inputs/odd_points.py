"""Writes files of measurements to argv[2], each with one thing wrong: the first
row of the file argv[1] with another value, a byte that is no text, a column
twice."""
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

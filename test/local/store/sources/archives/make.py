"""Writes the archives and the workbook of this directory: `python make.py`, with openpyxl 3.1.5."""

import datetime
import io
import tarfile
import zipfile
from pathlib import Path

import openpyxl

HERE = Path(__file__).parent
FILES = {
    "logs/app.log": "2025-10-10 13:55:03 c\n",
    "logs/app.log.1": "2025-10-10 13:55:02 b\n",
    "logs/app.log.10": "2025-10-10 13:55:01 a\n",
    "logs/.hidden": "hidden\n",
    "__MACOSX/logs/app.log": "hidden\n",
    "logs/empty.log": "",
}


def write_zip():
    with zipfile.ZipFile(HERE / "logs.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("logs/", "")
        for name, text in FILES.items():
            archive.writestr(zipfile.ZipInfo(name), text)


def write_tar(name, mode):
    with tarfile.open(HERE / name, mode) as archive:
        directory = tarfile.TarInfo("logs")
        directory.type = tarfile.DIRTYPE
        archive.addfile(directory)
        for file, text in FILES.items():
            entry = tarfile.TarInfo(file)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))


def write_workbook():
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Orders"
    sheet.append(["time", "id", "price", "paid", "note", "day"])
    sheet.append([datetime.datetime(2025, 10, 10, 13, 55, 1, 250000), "00501", 1.5, True, 'a "quoted", text', datetime.date(2025, 10, 10)])
    sheet.append([datetime.datetime(2025, 10, 10, 13, 55, 2), "00502", 9007199254740991, False, None, None])
    book.create_sheet("Others").append(["v"])
    book["Others"].append([7])
    book.save(HERE / "orders.xlsx")


def write_formulas():
    """Formulas without their results, as openpyxl writes them."""
    book = openpyxl.Workbook()
    book.active.append(["n", "twice"])
    book.active.append([1, "=A2*2"])
    book.active.append([2, 4])
    book.save(HERE / "formulas.xlsx")


def write_far():
    """A sheet with a cell in a column that no sheet has."""
    with zipfile.ZipFile(HERE / "orders.xlsx") as book, zipfile.ZipFile(HERE / "far.xlsx", "w", zipfile.ZIP_DEFLATED) as far:
        for name in book.namelist():
            text = book.read(name)
            entry = zipfile.ZipInfo(name)
            far.writestr(entry, text.replace(b'r="B2"', b'r="ZZZZZZ2"') if name.endswith("sheet1.xml") else text)


def write_odd():
    """What few programs write: days from 1904, parts in other places and other case, a chart and an empty sheet first, escapes."""
    book = openpyxl.Workbook()
    book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    book.active.title = "Empty"
    sheet = book.create_sheet("Rows")
    sheet.append(["day", "note"])
    sheet.append([datetime.date(2025, 10, 10), 4711])
    book.create_chartsheet("Chart", 0)
    plain = HERE / "odd.tmp"
    book.save(plain)
    changes = [
        (b'"/xl/', b'"/Data/'),
        (b'"xl/', b'"Data/'),
        (b"</workbook>", b'<extLst><ext uri="{1}"><x15:workbookPr xmlns:x15="urn:x15" chartTrackingRefBase="1"/></ext></extLst></workbook>'),
        (b't="n"><v>4711</v>', b't="str"><f>A1</f><v>a_x000D_b_x005F_x000D_</v>'),
    ]
    with zipfile.ZipFile(plain) as book, zipfile.ZipFile(HERE / "odd.xlsx", "w", zipfile.ZIP_DEFLATED) as odd:
        for name in book.namelist():
            text = book.read(name)
            for old, new in changes:
                text = text.replace(old, new)
            odd.writestr(zipfile.ZipInfo(name.replace("xl/", "DATA/")), text)
    plain.unlink()


def write_binary():
    """What a workbook in the binary form looks like to a reader of XML."""
    with zipfile.ZipFile(HERE / "orders.xlsx") as book, zipfile.ZipFile(HERE / "binary.xlsb", "w", zipfile.ZIP_DEFLATED) as binary:
        binary.writestr(zipfile.ZipInfo("[Content_Types].xml"), book.read("[Content_Types].xml"))
        binary.writestr(zipfile.ZipInfo("_rels/.rels"), book.read("_rels/.rels").replace(b"workbook.xml", b"workbook.bin"))
        binary.writestr(zipfile.ZipInfo("xl/workbook.bin"), b"\x83\x01\x00\x80\x01\x14")


if __name__ == "__main__":
    write_zip()
    write_tar("logs.tar.gz", "w:gz")
    write_tar("logs.tar", "w")
    write_workbook()
    write_far()
    write_formulas()
    write_odd()
    write_binary()

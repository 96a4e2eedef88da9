"""Mutants of one PTX kernel: each changes one synchronisation instruction, one address or one field
of a descriptor. Text in, text out; scripts/mutate-ptx.py runs them.

Three kinds:

  sync        an instruction that orders or waits is deleted or made weaker
  address     an address operand, a stride, or a constant of an address computation is changed
  descriptor  a field of a wgmma descriptor or of a tensor map, or a tensor coordinate, is changed

Where an operand is a register, the mutant computes the changed value in a block of its own, so that
no other use of the register sees it.
"""

import dataclasses
import json
import re

BEGIN, END = "// tcc-metadata begin:", "// tcc-metadata end"


@dataclasses.dataclass
class Statement:
    """One instruction: text[start:end] is all of it, with guard and semicolon."""
    start: int
    end: int
    guard: str
    opcode: str
    operands: list
    ordinal: int = 0  # among the statements with the same opcode

    def text(self, operands=None, opcode=None):
        guard = self.guard + " " if self.guard else ""
        return f"{guard}{opcode or self.opcode} {', '.join(operands or self.operands)};"


@dataclasses.dataclass
class Mutant:
    name: str  # kernel/change/opcode#ordinal
    kind: str  # sync, address, descriptor
    family: str  # a row of the table: the instruction or field that is changed
    before: str
    after: str
    text: str


# ----------------------------------------------------------------------------
# Taking a file apart
# ----------------------------------------------------------------------------


def split_operands(text):
    """'a, [b, {c, d}], e' at its outer commas."""
    operands, depth, begin = [], 0, 0
    for position, char in enumerate(text + ","):
        depth += (char in "[{(") - (char in "]})")
        if char == "," and depth == 0:
            operands.append(" ".join(text[begin:position].split()))
            begin = position + 1
    return [operand for operand in operands if operand]


TOKEN = re.compile(r"""\s+ | //[^\n]* | /\*.*?\*/ | [{}] | [\w$]+: | \.[^;]*; |
                       (?P<guard>@!?[\w$%]+)?\s*(?P<opcode>[a-z][\w.:]*)(?P<operands>[^;]*);""",
                   re.VERBOSE | re.DOTALL)


def statements(text, begin, end):
    """The instructions of text[begin:end], a function's body."""
    result, count, position = [], {}, begin
    while position < end:
        match = TOKEN.match(text, position, end)
        if not match:
            line = text.count("\n", 0, position) + 1
            raise ValueError(f"line {line}: expected an instruction")
        if match["opcode"]:
            opcode = match["opcode"]
            ordinal = count[opcode] = count.get(opcode, -1) + 1
            result.append(Statement(match.start(), match.end(), match["guard"] or "", opcode,
                                    split_operands(match["operands"]), ordinal))
        position = match.end()
    return result


def body_of(text, entry):
    """Where an entry's declaration begins, and where the text between its braces does and ends."""
    head = re.search(r"\.(visible|weak)\s+\.entry\s+" + re.escape(entry) + r"\b", text)
    if not head:
        raise ValueError(f"no entry '{entry}'")
    begin = text.index("\n{", head.end()) + 2
    depth, end = 1, begin
    while depth:
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        end += 1
    return head.start(), begin, end - 1


def end_of_header(text):
    """Where the PTX begins; 0 without a header."""
    return text.index(END) + len(END) if BEGIN in text else 0


def parse_header(text):
    """The kernels that the header describes, and where its lines begin and end."""
    begin = text.index(BEGIN)
    end = text.index(END)
    body = "".join(line.removeprefix("//") for line in text[begin:end].splitlines(True)[1:])
    kernels, decoder, position = [], json.JSONDecoder(), 0
    while body[position:].strip():
        position += len(body[position:]) - len(body[position:].lstrip())
        kernel, position = decoder.raw_decode(body, position)
        kernels.append(kernel)
    return kernels, begin, end + len(END)


def render_header(kernel):
    lines = json.dumps(kernel, indent=1).splitlines()
    return f"{BEGIN} schema {kernel['schema']}, 1 kernels\n" + \
        "".join(f"// {line}\n" for line in lines) + END


def only_variant(text, variant=None):
    """The same PTX with one variant alone, by default the first, and its header as an object."""
    kernels, begin, end = parse_header(text)
    chosen = next((kernel for kernel in kernels
                   if variant in (None, kernel.get("variant", kernel["entry"]))), None)
    if not chosen:
        raise ValueError(f"no variant '{variant}'")
    body = text[end:]
    for kernel in kernels:
        if kernel is not chosen:
            start, _, stop = body_of(body, kernel["entry"])
            body = body[:start] + body[stop + 1:]
    return render_header(chosen) + body, chosen


# ----------------------------------------------------------------------------
# Changes of one operand
# ----------------------------------------------------------------------------


def through_register(statement, index, kind, operation, changed):
    """`statement` with operand `index` replaced: changed(m) where m = operation of the old one."""
    operands = list(statement.operands)
    operands[index] = changed("mutant")
    return f"{{ .reg .{kind} mutant; {operation.format('mutant')} {statement.text(operands)} }}"


ADDRESS = re.compile(r"^\[\s*([\w$%.]+)\s*(?:\+\s*(-?\d+)\s*)?(?=[\],])")


def moved(operand, distance):
    """'[a+8]' moved by a distance; None where the operand is no address."""
    match = ADDRESS.match(operand)
    if not match:
        return None
    offset = int(match[2] or 0) + distance
    return f"[{match[1]}+{offset}" + operand[match.end():] if offset else \
        f"[{match[1]}" + operand[match.end():]


# ----------------------------------------------------------------------------
# Synchronisation
# ----------------------------------------------------------------------------

# Deleted as they are. Waits, arrivals and groups are also made weaker, below.
SYNC = re.compile(r"""bar(rier)?(\.cta)?(\.warp)?\.(sync|arrive)\b | barrier\.cluster\. |
                      membar | fence | cp\.async\.(commit_group|wait_group|wait_all|mbarrier) |
                      cp\.async\.bulk\.(commit_group|wait_group) |
                      mbarrier\. | wgmma\.(fence|commit_group|wait_group)""", re.VERBOSE)


def sync_family(opcode):
    """The row of the table: the opcode without its types, spaces and scopes."""
    for family in ("cp.async.bulk.commit_group", "cp.async.bulk.wait_group", "mbarrier.init",
                   "mbarrier.arrive.expect_tx", "mbarrier.arrive", "mbarrier.expect_tx",
                   "mbarrier.inval", "barrier.cluster.arrive", "barrier.cluster.wait",
                   "fence.proxy", "fence.mbarrier_init", "cp.async.mbarrier.arrive"):
        if opcode.startswith(family):
            return family
    if re.match(r"mbarrier\.(try|test)_wait", opcode):
        return "mbarrier wait"
    return ".".join(re.sub(r"\.(sync\.aligned|aligned|cta)\b", "", opcode).split(".")[:3])


def sync_changes(statement):
    """(change, text) for each way in which a synchronisation instruction is weakened."""
    opcode, operands = statement.opcode, statement.operands
    if re.match(r"mbarrier\.(try|test)_wait", opcode):
        # The wait's loop ends when the predicate is true.
        yield "no-wait", f"setp.eq.b32 {operands[0]}, 0, 0;"
        if ".parity" in opcode:
            yield "other-parity", through_register(statement, 2, "b32",
                                                   f"xor.b32 {{}}, {operands[2]}, 1;", str)
        if ".acquire" in opcode:
            yield "relaxed", statement.text(opcode=opcode.replace(".acquire", ".relaxed"))
        return
    yield "delete", ""
    if "wait_group" in opcode:
        yield "wait-one-less", statement.text([str(int(operands[0]) + 1)])
        if opcode == "cp.async.bulk.wait_group":
            yield "wait-read-only", statement.text(opcode=opcode + ".read")
    if opcode.startswith("mbarrier.init"):
        for change, step in (("count+1", 1), ("count-1", -1)):
            yield change, through_register(statement, 1, "b32",
                                           f"add.s32 {{}}, {operands[1]}, {step};", str)
    if "expect_tx" in opcode:
        index = len(operands) - 1
        for change, step in (("bytes+16", 16), ("bytes-16", -16)):
            yield change, through_register(statement, index, "b32",
                                           f"add.s32 {{}}, {operands[index]}, {step};", str)
        if ".arrive" in opcode:
            yield "no-bytes", statement.text(operands[:-1], opcode.replace(".expect_tx", ""))
    if ".release" in opcode and (opcode.startswith("mbarrier.arrive")
                                 or opcode.startswith("barrier.cluster.arrive")):
        yield "relaxed", statement.text(opcode=opcode.replace(".release", ".relaxed"))
    elif re.fullmatch(r"barrier\.cluster\.arrive(\.aligned)?", opcode):
        yield "relaxed", statement.text(
            opcode=opcode.replace("cluster.arrive", "cluster.arrive.relaxed"))
    if opcode in ("fence.proxy.async", "fence.proxy.async.shared::cta"):
        yield "global-only", statement.text(opcode="fence.proxy.async.global")


# ----------------------------------------------------------------------------
# Addresses
# ----------------------------------------------------------------------------

MEMORY = re.compile(r"(ld|st|atom|red)\.(?!param|local|const) | ldmatrix | stmatrix | "
                    r"wmma\.(load|store) | cp\.async\.(ca|cg)\. | "
                    r"cp\.async\.bulk\.(?!commit|wait|prefetch) | "
                    r"cp\.reduce\.async\.bulk | mbarrier\.", re.VERBOSE)
# Through these an address is followed back to its constants; loads end the search.
ARITHMETIC = re.compile(
    r"(add|sub|mul|mad|shl|shr|and|or|xor|cvt|cvta|mov|selp|min|max|mapa|bfi|bfe)\.")
REGISTER = re.compile(r"%[A-Za-z_$][\w$]*")


def memory_family(opcode):
    if opcode.startswith("mbarrier."):
        return "mbarrier address"
    if opcode.startswith("cp.async.bulk") or opcode.startswith("cp.reduce.async.bulk"):
        return "bulk copy address"
    if opcode.startswith("cp.async"):
        return "cp.async address"
    if "global" in opcode:
        return "global address"
    return "shared address"


def address_changes(statement):
    """(change, family, text): each address operand moved, each stride lengthened."""
    opcode, operands = statement.opcode, statement.operands
    for index, operand in enumerate(operands):
        if "tensor" in opcode and "{" in operand:
            continue  # a tensor map and its coordinates
        is_barrier = opcode.startswith("mbarrier.") or (
            "mbarrier::complete_tx" in opcode and index == 2)
        step = 8 if is_barrier else 16
        family = "mbarrier address" if is_barrier else memory_family(opcode)
        changed = moved(operand, step)
        if changed:
            which = "" if index == 0 or operands[0][0] != "[" else f"-operand{index}"
            yield f"+{step}{which}", family, statement.text(
                operands[:index] + [changed] + operands[index + 1:])
    if opcode.startswith("wmma.") and REGISTER.fullmatch(operands[-1]):
        yield "stride+8", "wmma stride", through_register(
            statement, len(operands) - 1, "b32", f"add.s32 {{}}, {operands[-1]}, 8;", str)
    elif opcode.startswith("wmma.") and operands[-1].isdigit():
        yield "stride+8", "wmma stride", statement.text(
            operands[:-1] + [str(int(operands[-1]) + 8)])


def definitions(body):
    """Register name → the statements that give it its value."""
    result = {}
    for statement in body:
        if statement.operands and not re.match(r"st\.|bra|bar|ret|red\.", statement.opcode):
            for register in REGISTER.findall(statement.operands[0]):
                result.setdefault(register, []).append(statement)
    return result


def slice_of(roots, defined):
    """The arithmetic that gives `roots` their values, as ids of statements."""
    seen, found, work = set(), {}, list(roots)
    while work:
        register = work.pop()
        if register in seen:
            continue
        seen.add(register)
        for statement in defined.get(register, []):
            if ARITHMETIC.match(statement.opcode):
                found[statement.start] = statement
                work += REGISTER.findall(" ".join(statement.operands[1:]))
    return found


def constant_changes(statement):
    """(change, text): each constant of an address computation, and an XOR of two registers."""
    opcode, operands = statement.opcode, statement.operands
    base = opcode.split(".")[0]
    if base == "xor" and not operands[2].lstrip("-").isdigit():
        yield "drop-xor", statement.text(operands[:2], opcode.replace("xor", "mov"))
    if base == "mapa":
        yield "rank^1", through_register(statement, 2, "b32",
                                         f"xor.b32 {{}}, {operands[2]}, 1;", str)
    if base not in ("add", "sub", "or", "xor", "and", "shl", "shr", "mul", "mad"):
        return
    for index, operand in enumerate(operands[1:], 1):
        if not re.fullmatch(r"-?\d+", operand):
            continue
        value = int(operand)
        if base in ("add", "sub") or (base == "mad" and index == 3):
            changed, change = value + 16, "constant+16"
        elif base in ("or", "xor"):
            changed, change = value ^ 16, "constant^16"
        elif base == "and":
            changed, change = value & (value - 1), "mask-lowest-bit"
        else:
            changed, change = value + 1, "constant+1"
        yield change, statement.text(operands[:index] + [str(changed)] + operands[index + 1:])


# ----------------------------------------------------------------------------
# Descriptors
# ----------------------------------------------------------------------------

# Fields of a wgmma matrix descriptor (PTX ISA, "Matrix Descriptor Format"), in units of 16 bytes.
DESCRIPTOR_FIELDS = [
    ("start+1", "descriptor start", "add.s64", 1), ("start-1", "descriptor start", "add.s64", -1),
    ("start+64", "descriptor start", "add.s64", 64),
    ("leading+1", "descriptor leading offset", "add.s64", 1 << 16),
    ("stride+1", "descriptor stride offset", "add.s64", 1 << 32),
    ("stride-1", "descriptor stride offset", "add.s64", -(1 << 32)),
    ("stride+64", "descriptor stride offset", "add.s64", 64 << 32),
    ("base^1", "descriptor base offset", "xor.b64", 1 << 49),
    ("base^4", "descriptor base offset", "xor.b64", 4 << 49),
    ("mode^1", "descriptor swizzle mode", "xor.b64", 1 << 62),
    ("mode^2", "descriptor swizzle mode", "xor.b64", 2 << 62),
    ("mode^3", "descriptor swizzle mode", "xor.b64", 3 << 62),
]


def wgmma_changes(statement):
    """(change, family, text) for the descriptors and the transpositions of wgmma.mma_async."""
    operands = statement.operands
    for index, matrix in ((1, "a"), (2, "b")):
        if operands[index][0] == "{":
            continue
        for change, family, opcode, value in DESCRIPTOR_FIELDS:
            value = (value + (1 << 63)) % (1 << 64) - (1 << 63)
            yield f"{matrix}-{change}", family, through_register(
                statement, index, "b64", f"{opcode} {{}}, {operands[index]}, {value};", str)
    # d, a, b, scale-d, scale-a, scale-b, then the transpositions of the operands in shared memory.
    for index in range(6, len(operands)):
        yield f"transpose{index}", "wgmma transposition", statement.text(
            operands[:index] + [str(1 - int(operands[index]))] + operands[index + 1:])


def coordinate_changes(statement):
    """(change, family, text) for a tensor copy's coordinates and its multicast mask."""
    for index, operand in enumerate(statement.operands):
        match = re.fullmatch(r"\[([^{]*)\{([^}]*)\}\]", operand)
        if match:
            coordinates = split_operands(match[2])
            for dim, coordinate in enumerate(coordinates):
                # The inner coordinate moves by 16 bytes or more, as the copy requires.
                step = 8 if dim == 0 else 1
                changed = coordinates[:dim] + ["mutant"] + coordinates[dim + 1:]
                yield f"coordinate{dim}+{step}", "tensor coordinate", through_register(
                    statement, index, "b32", f"add.s32 {{}}, {coordinate}, {step};",
                    lambda _, c=changed, m=match[1]: f"[{m}{{{', '.join(c)}}}]")
        elif "multicast" in statement.opcode and index == 3:
            yield "mask^1", "multicast mask", through_register(
                statement, index, "b16", f"xor.b16 {{}}, {operand}, 1;", str)


def tensor_map_changes(kernel):
    """(change, family, header) for the fields of the header's tensor maps."""
    for number, tensor_map in enumerate(kernel.get("tensorMaps", [])):
        def changed(field, value, number=number, tensor_map=tensor_map):
            maps = list(kernel["tensorMaps"])
            maps[number] = {**tensor_map, field: value}
            return {**kernel, "tensorMaps": maps}

        name = f"{tensor_map['argument']}{number}"
        for dim, extent in enumerate(tensor_map["box"]):
            box = list(tensor_map["box"])
            box[dim] = extent // 2
            yield f"map-{name}-box{dim}/2", "tensor map box", changed("box", box)
        for swizzle in (0, 32, 64, 128):
            if swizzle != tensor_map["swizzle"]:
                yield (f"map-{name}-swizzle{swizzle}", "tensor map swizzle",
                       changed("swizzle", swizzle))
        strides = [1] * (len(tensor_map["box"]) - 1) + [2]
        yield f"map-{name}-stride2", "tensor map element stride", changed("elementStrides", strides)


# ----------------------------------------------------------------------------
# All of them
# ----------------------------------------------------------------------------


def mutants(kernel_name, text, kernel):
    """Every mutant of PTX whose only kernel the header object `kernel` describes."""
    _, begin, end = body_of(text, kernel["entry"])
    body = statements(text, begin, end)

    def make(statement, change, kind, family, replacement):
        name = f"{kernel_name}/{change}/{statement.opcode}#{statement.ordinal}"
        return Mutant(name, kind, family, " ".join(text[statement.start:statement.end].split()),
                      replacement, text[:statement.start] + replacement + text[statement.end:])

    addresses, descriptors = set(), set()
    for statement in body:
        opcode = statement.opcode
        if SYNC.match(opcode):
            for change, replacement in sync_changes(statement):
                yield make(statement, change, "sync", sync_family(opcode), replacement)
        if MEMORY.match(opcode):
            for change, family, replacement in address_changes(statement):
                yield make(statement, change, "address", family, replacement)
            addresses.update(REGISTER.findall(" ".join(
                operand for operand in statement.operands if operand[0] == "[")))
        if opcode.startswith("wgmma.mma_async"):
            for change, family, replacement in wgmma_changes(statement):
                yield make(statement, change, "descriptor", family, replacement)
            descriptors.update(REGISTER.findall(" ".join(statement.operands[1:3])))
        if opcode.startswith("cp.") and "tensor" in opcode:
            for change, family, replacement in coordinate_changes(statement):
                yield make(statement, change, "descriptor", family, replacement)

    defined = definitions(body)
    followed = slice_of(addresses, defined)
    for statement in followed.values():
        for change, replacement in constant_changes(statement):
            yield make(statement, change, "address", "address constant", replacement)
    # A descriptor's own start is changed at the wgmma; what is left are the strides of its slots.
    for start, statement in slice_of(descriptors, defined).items():
        if start not in followed and statement.opcode.split(".")[0] in ("shl", "mul"):
            for change, replacement in constant_changes(statement):
                yield make(statement, change, "address", "address constant", replacement)

    body_text = text[end_of_header(text):]
    for change, family, header in tensor_map_changes(kernel):
        yield Mutant(f"{kernel_name}/{change}", "descriptor", family, "", change,
                     render_header(header) + body_text)

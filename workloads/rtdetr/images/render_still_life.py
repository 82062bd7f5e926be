#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""render_still_life.py OUT.png: three fruits on a table, by ray tracing.

rtdetr comes with this picture as its photograph, because we may redistribute it. Standard library only; takes about
10 s. still_life.jpg is the same picture, compressed once with stb_image_write at quality 90.
"""
import math
import struct
import sys
import zlib

WIDTH, HEIGHT = 320, 240
SAMPLES = 2  # per side of each pixel
LIGHT = (-0.55, 0.75, -0.4)  # towards the light; length 1 within a percent
# (centre, radius, colour): two oranges and an apple
SPHERES = (((-1.25, 0.8, 4.6), 0.8, (0.95, 0.50, 0.08)),
           ((0.35, 0.7, 3.9), 0.7, (0.93, 0.46, 0.06)),
           ((1.75, 0.9, 5.2), 0.9, (0.74, 0.10, 0.09)))
WALL = 9.0


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def sphere_distance(origin, direction, centre, radius):
    offset = tuple(o - c for o, c in zip(origin, centre))
    half = dot(offset, direction)
    root = half * half - dot(offset, offset) + radius * radius
    if root < 0:
        return None
    distance = -half - math.sqrt(root)
    return distance if distance > 1e-4 else None


def nearest_sphere(origin, direction):
    hits = ((sphere_distance(origin, direction, centre, radius), number)
            for number, (centre, radius, _) in enumerate(SPHERES))
    return min((hit for hit in hits if hit[0] is not None), default=None)


def lit(point):
    return nearest_sphere(point, LIGHT) is None


def sphere_colour(number, point, direction):
    centre, radius, colour = SPHERES[number]
    normal = tuple((p - c) / radius for p, c in zip(point, centre))
    # The skin: small dents, which change only the normal.
    dent = 0.04 * math.sin(38 * point[0]) * math.sin(41 * point[1]) * math.sin(37 * point[2])
    diffuse = max(dot(normal, LIGHT) + dent, 0) if lit(point) else 0
    reflected = tuple(d - 2 * dot(direction, normal) * n for d, n in zip(direction, normal))
    shine = max(dot(reflected, LIGHT), 0) ** 40 if diffuse > 0 else 0
    bounce = 0.10 * max(-normal[1], 0)  # from the table
    return tuple(c * (0.20 + bounce + 0.80 * diffuse) + 0.55 * shine for c in colour)


def table_colour(point):
    plank = math.floor(point[0] * 1.1 + 100)
    grain = math.sin(9 * point[0] + 2.2 * math.sin(1.3 * point[2] + plank)) + 0.4 * math.sin(31 * point[0] + plank)
    wood = 0.52 + 0.05 * grain + 0.05 * (plank % 3)
    light = 0.85 if lit(point) else 0.38
    near = min(1.0, 6 / (1 + point[2]))
    return tuple(light * wood * near * c for c in (1.25, 0.86, 0.52))


def wall_colour(point):
    shade = 0.72 - 0.05 * abs(point[0] + 1.5) + 0.03 * point[1]
    return (0.80 * shade, 0.86 * shade, 0.90 * shade)


def colour_of(direction):
    origin = (0.0, 2.1, -1.2)
    hit = nearest_sphere(origin, direction)
    if hit is not None:
        point = tuple(o + hit[0] * d for o, d in zip(origin, direction))
        return sphere_colour(hit[1], point, direction)
    to_wall = (WALL - origin[2]) / direction[2]
    point = tuple(o + to_wall * d for o, d in zip(origin, direction))
    if point[1] >= 0:
        return wall_colour(point)
    to_table = -origin[1] / direction[1]
    return table_colour(tuple(o + to_table * d for o, d in zip(origin, direction)))


def pixel(column, row):
    total = [0.0, 0.0, 0.0]
    for step in range(SAMPLES * SAMPLES):
        x = (column + (step % SAMPLES + 0.5) / SAMPLES - WIDTH / 2) / WIDTH
        y = (HEIGHT / 2 - row - (step // SAMPLES + 0.5) / SAMPLES) / WIDTH
        direction = (x, y - 0.16, 0.95)
        length = math.sqrt(dot(direction, direction))
        for i, value in enumerate(colour_of(tuple(d / length for d in direction))):
            total[i] += value
    return bytes(round(255 * min(value / SAMPLES ** 2, 1) ** (1 / 1.6)) for value in total)


def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write_png(path, rows):
    """Each row as differences from the one above (filter 2), which compresses smooth pictures well."""
    above, filtered = bytes(3 * WIDTH), bytearray()
    for row in rows:
        filtered += b"\2" + bytes((here - up) % 256 for here, up in zip(row, above))
        above = row
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header) + png_chunk(b"IDAT", zlib.compress(filtered, 9))
                   + png_chunk(b"IEND", b""))


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__.splitlines()[0])
    write_png(sys.argv[1], [b"".join(pixel(column, row) for column in range(WIDTH)) for row in range(HEIGHT)])


if __name__ == "__main__":
    main()

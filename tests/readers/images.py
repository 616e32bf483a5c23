"""images.py FOLDER: reads and writes again every image that `bspkit light export` left in a folder, with Pillow and imageio.

Prints a line for each: its name, size and the sum of its numbers. What is written again has the same pixels in another file.
"""
import os
import sys

import cv2
import imageio.v3 as imageio
import numpy
from PIL import Image

for folder, _, names in sorted(os.walk(sys.argv[1])):
    for name in sorted(names):
        path = os.path.join(folder, name)
        shown = os.path.relpath(path, sys.argv[1]).replace(os.sep, "/")
        if name.endswith(".png"):
            pixels = numpy.asarray(Image.open(path))
            assert numpy.array_equal(pixels, imageio.imread(path)), shown
            Image.open(path).save(path, optimize=True)
            print("IMAGE", shown, *pixels.shape, int(pixels.astype(numpy.int64).sum()))
        elif name.endswith(".hdr"):
            pixels = imageio.imread(path, plugin="opencv", flags=cv2.IMREAD_ANYDEPTH | cv2.IMREAD_COLOR)
            imageio.imwrite(path, pixels, plugin="opencv", extension=".hdr")
            print("IMAGE", shown, *pixels.shape, repr(float(pixels.astype(numpy.float64).sum())))

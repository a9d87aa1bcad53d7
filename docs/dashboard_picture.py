"""Makes docs/images/dashboard.png: the demo's dashboard, three minutes after it was started.

build/python/environment/bin/python docs/dashboard_picture.py build/release/apps/goblin/goblin
"""

from __future__ import annotations

import io
import subprocess
import sys
import time
from pathlib import Path

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

address = "127.0.0.1:8093"
options = webdriver.ChromeOptions()
options.binary_location = "/usr/bin/chromium"
for argument in ("--headless=new", "--no-sandbox", "--hide-scrollbars", "--window-size=1280,880"):
    options.add_argument(argument)
server = subprocess.Popen([sys.argv[1], "serve", "--demo", "--listen", address])
browser = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
try:
    time.sleep(2)
    browser.get(f"http://{address}/")
    time.sleep(180)
    picture = Image.open(io.BytesIO(browser.get_screenshot_as_png())).convert("RGB")
    # 128 colours are as good as all of them, and a third of the bytes.
    picture.quantize(128, dither=Image.Dither.NONE).save(
        Path(__file__).parent / "images" / "dashboard.png", optimize=True
    )
finally:
    browser.quit()
    server.terminate()
    server.wait()

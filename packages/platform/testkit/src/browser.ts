import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome'];

/** A Chromium of this machine: the one named by HEADWAY_CHROMIUM, or one on PATH; `null` where there is none. */
export function findChromium(): string | null {
  const named = process.env.HEADWAY_CHROMIUM;
  if (named !== undefined && named !== '') return named;
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin'];
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find((path) => existsSync(path)) ?? null;
}

export interface OpenBrowser {
  readonly context: BrowserContext;
  close(): Promise<void>;
}

/** Starts it with an empty profile, and lets it reach for nothing but the pages that the test opens. */
export async function openBrowser(executablePath: string): Promise<OpenBrowser> {
  const profile = mkdtempSync(join(tmpdir(), 'headway-browser-'));
  const quiet = [
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ];
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    headless: true,
    chromiumSandbox: false,
    args: [...quiet, '--no-sandbox'],
  });
  return {
    context,
    close: async () => {
      await context.close();
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

import { type Engine, findEngine } from './container-engine.ts';

/** Long enough for a usual connection; tests wait for it in their set-up, which has a limit too. */
const IMAGE_WITHIN_MS = { auto: 45_000, on: 110_000 } as const;

/**
 * The engine to run this image on; `null` where a local server is to be taken. `HEADWAY_TEST_CONTAINERS` decides: `off`
 * never asks; `on` throws when there is no engine or image; `auto`, the default, takes containers only where an engine
 * answers and has or gets the image in time, and says so in one line when the image is missing.
 */
export async function chooseContainers(image: string): Promise<Engine | null> {
  const mode = containerMode();
  if (mode === 'off') return null;
  const engine = await findEngine();
  if (engine === null) {
    if (mode === 'auto') return null;
    throw new Error(
      'HEADWAY_TEST_CONTAINERS is on, but no Docker engine answers: start one, set DOCKER_HOST to its unix: or ' +
        'unencrypted tcp: address, or set HEADWAY_TEST_CONTAINERS to auto or off',
    );
  }
  try {
    const { bringImage } = await import('./bring-image.ts');
    await bringImage(image, { within: IMAGE_WITHIN_MS[mode], insist: mode === 'on' });
    return engine;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    if (mode === 'on')
      throw new Error(
        `HEADWAY_TEST_CONTAINERS is on, but there is no image ${image}: ${why}. Run \`docker pull ${image}\`, or set ` +
          'HEADWAY_TEST_CONTAINERS to auto or off',
        { cause },
      );
    tellOnce(`testkit: a Docker engine answers, but there is no image ${image} (${why}); taking local binaries\n`);
    return null;
  }
}

function containerMode(): 'off' | 'on' | 'auto' {
  const mode = process.env.HEADWAY_TEST_CONTAINERS;
  if (mode === undefined || mode === '') return 'auto';
  if (mode === 'off' || mode === 'on' || mode === 'auto') return mode;
  throw new Error(`HEADWAY_TEST_CONTAINERS is ${JSON.stringify(mode)}: set it to off, on or auto`);
}

const told = new Set<string>();

function tellOnce(line: string): void {
  if (told.has(line)) return;
  told.add(line);
  process.stderr.write(line);
}

import { CommanderError } from 'commander';
import { createContext, say } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { createProgram } from './program.ts';

// Whoever reads our output may go at any time; what the command does goes on.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

/** The command line: reads the arguments of this process and answers with its exit code. */
export async function run(): Promise<number> {
  try {
    const context = createContext(process.env, process.cwd(), process);
    let exitCode: number = exitCodes.usage;
    const program = createProgram(context, (code) => {
      exitCode = code;
    });
    for (const command of [program, ...program.commands, ...program.commands.flatMap((group) => group.commands)])
      command.exitOverride();
    await program.parseAsync();
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    if (error instanceof TypeError && error.message.startsWith('HEADWAY_')) {
      say(process, error.message);
      return exitCodes.usage;
    }
    throw error;
  }
}

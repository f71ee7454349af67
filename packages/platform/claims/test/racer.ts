/** One of the processes that race for a claim: `node racer.ts <url> <name> <rounds>`. Prints each epoch it was granted. */
import { connectPostgresClaims } from '../src/index.ts';

const [url = '', holder = '', rounds = '0'] = process.argv.slice(2);
const claims = connectPostgresClaims(url);
const granted: string[] = [];
for (let round = 0; round < Number(rounds); round += 1) {
  // A round is over when somebody was granted it: the winner gives it back, the loser asks again.
  const own = await claims.acquire(['race'], holder, 60);
  granted.push(...own.map(({ epoch }) => String(epoch)));
  await claims.release(own);
}
await claims.close();
process.stdout.write(granted.join('\n'));

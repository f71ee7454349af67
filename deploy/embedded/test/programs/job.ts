if (process.env.FAKE_JOB === 'fails') {
  console.error('the fake job found something wrong');
  process.exit(3);
}

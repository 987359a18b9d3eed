// A script in JavaScript.
module.exports = {
  config: { phases: [{ duration: 1, arrivalCount: 2 }] },
  scenarios: [{ flow: [{ get: { url: '/from/javascript' } }] }],
};
